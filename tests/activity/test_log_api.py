"""The activity log over the API and for AI clients: search and export, without visitors' texts, for admins."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from content.posts.trash import delete_post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.services.tokens import create_token
from proofroom.core import outbox
from proofroom.core.activity.chain import seal_events
from proofroom.core.database import row_counts
from proofroom.core.models import Event
from tests import make
from tests.activity.chain import happened
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LIST = "/api/activity"


def entries(query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ApiClient("admin").read(LIST + query)["data"]
    return found


def lines(query: str = "") -> str:
    answer: Any = ApiClient("admin").get(f"{LIST}/export{query}")
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content).decode()


def test_an_entry_says_who_did_what_when_and_through_which_door() -> None:
    post = make.post("How to brew")
    seal_events()

    (entry,) = entries("?event=post.created")

    event = Event.objects.get(name="post.created")
    assert {
        name: entry[name] for name in entry if name not in ("payload", "createdAt", "seal")
    } == {
        "id": event.pk,
        "uid": str(event.uid),
        "event": "post.created",
        "label": "Post created",
        "sentence": "admin created ‘How to brew’",
        "actor": {"id": make.user("admin").pk, "username": "admin"},
        "via": "api",
        "door": "API",
        "credential": "",
        "agentId": None,
        "runId": None,
        "postId": str(post.pk),
        "postTitle": "How to brew",
        "causeId": None,
        "private": False,
        "forgottenAt": None,
    }
    assert (entry["seal"]["seq"], entry["seal"]["hash"]) == (event.seal.seq, event.seal.hash)
    assert ApiClient("admin").read(f"{LIST}/{event.pk}") == entry


def test_users_who_may_restore_see_the_title_of_a_trashed_post() -> None:
    post = make.post("How to brew")
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    (entry,) = entries("?event=post.deleted")

    assert entry["sentence"] == "admin moved ‘How to brew’ to the trash"
    assert entry["postTitle"] == "How to brew"


def test_a_program_is_called_by_the_name_of_its_token() -> None:
    _, secret = create_token(
        name="Nightly", permissions=["posts.create", "posts.view"], actor=make.actor("admin")
    )
    ApiClient().write(
        "POST",
        "/api/posts",
        {"type": "blog", "title": "By a program"},
        expect=201,
        HTTP_AUTHORIZATION=f"Bearer {secret}",
    )

    (entry,) = entries("?event=post.created")

    assert entry["door"] == "API token Nightly"
    assert secret not in str(entries())


def test_entries_are_found_by_what_they_are() -> None:
    post = make.post()
    make.staged(post, {"excerpt": "Short"})
    happened(2)
    agent, admin = make.agent_actor().user.pk, make.user("admin").pk
    old = Event.objects.filter(name="agent.switched").earliest("id")
    Event.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=3))
    day = (timezone.now() - timedelta(days=3)).date()

    assert {entry["event"] for entry in entries(f"?actor={agent}")} == {"post.ai-review.save"}
    assert "post.created" in {entry["event"] for entry in entries(f"?actor={admin}")}
    assert {entry["via"] for entry in entries("?via=agent")} == {"agent"}
    assert len(entries("?agentId=seo-specialist")) == 1
    assert {entry["postId"] for entry in entries(f"?postId={post.pk}")} == {str(post.pk)}
    assert [entry["id"] for entry in entries(f"?to={day}")] == [old.pk]
    assert [entry["id"] for entry in entries(f"?from={day}&to={day}")] == [old.pk]
    assert entries(f"?from={day}&to={day - timedelta(days=1)}") == []
    assert all(entry["id"] < old.pk for entry in entries(f"?before={old.pk}"))
    assert entries(f"?postId={uuid4()}") == []


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("event=nothing", "event"),
        ("event=%00", "event"),
        ("via=window", "via"),
        ("actor=x", "actor"),
        ("actor=-1", "actor"),
        ("actor=9223372036854775808", "actor"),
        ("agentId=%00", "agentId"),
        ("agentId=" + "a" * 81, "agentId"),
        ("postId=x", "postId"),
        ("from=yesterday", "from"),
        ("to=2026-13-01", "to"),
        ("to=0001-01-01T00:00:00%2B14:00", "to"),
        ("before=1.5", "before"),
        ("page=0", "page"),
    ],
)
def test_what_is_no_value_is_refused(query: str, key: str) -> None:
    for path in (LIST, f"{LIST}/export"):
        if key == "page" and path != LIST:
            continue
        newest = Event.objects.count()
        answer = ApiClient("admin").read(f"{path}?{query}", expect=422)
        assert [*answer["details"]] == [key]
        assert Event.objects.count() == newest


def test_the_last_day_of_all_days_is_no_error() -> None:
    assert ApiClient("admin").get(f"{LIST}?to=9999-12-31").status_code in (200, 422)


def test_counting_is_bounded_and_older_pages_stay_where_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_counts, "COUNTED_TO", 5)
    made = happened(9)

    answer = ApiClient("admin").read(f"{LIST}?event=agent.switched&per_page=2")
    if connection.vendor == "postgresql":
        assert answer["meta"]["total_is_estimate"] is True
    else:
        assert answer["meta"]["total"] == 9
    last = answer["data"][-1]["id"]
    happened(3)

    older = entries(f"?event=agent.switched&per_page=2&before={last}")
    assert [entry["id"] for entry in older] == [made[6].pk, made[5].pk]


def test_words_of_visitors_and_secrets_are_not_answered() -> None:
    make.form()
    make.submission(email="a@example.com", message="Canary words")
    payload: Any = {"apiKey": "canary-key", "deep": [{"password": "canary-pass", "kept": "this"}]}
    outbox.record("agent.switched", actor=make.actor("admin"), payload=payload)

    told = json.dumps(entries()) + lines() + lines("?format=jsonl")

    assert "canary" not in told.lower()
    assert "a@example.com" not in told
    assert '"kept":"this"' in told.replace(": ", ":")
    (entry,) = entries("?event=form.submitted")
    assert entry["private"] is True
    assert {*entry["payload"]} == {"formSlug", "submissionId"}
    assert entry["sentence"] == "visitor submitted the form ‘contact’"
    assert entry["door"] == "Site"


@pytest.mark.parametrize(
    ("more", "of_the_live", "of_the_trash"),
    [
        ([], False, False),
        (["posts.view"], True, False),
        (["posts.view", "posts.restore"], True, True),
    ],
    ids=["none", "view", "restore"],
)
def test_a_program_reads_no_titles_of_posts_that_it_may_not_see(
    more: list[str], of_the_live: bool, of_the_trash: bool
) -> None:
    make.post("Canary alive")
    gone = make.post("Canary gone")
    ApiClient("admin").write("DELETE", f"/api/posts/{gone.pk}")
    permissions = ["settings.manage", *more]
    _, secret = create_token(name="Log", permissions=permissions, actor=make.actor("admin"))
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}

    told = json.dumps(ApiClient().read(LIST, **bearer))
    answer: Any = ApiClient().get(f"{LIST}/export?format=jsonl", **bearer)
    taken = b"".join(answer.streaming_content).decode()

    for text in (told, taken):
        assert str(gone.pk) in text
        assert ("anary alive" in text, "anary-alive" in text) == (of_the_live, of_the_live)
        assert ("anary gone" in text, "anary-gone" in text) == (of_the_trash, of_the_trash)


def test_the_export_is_safe_in_a_spreadsheet_and_recorded() -> None:
    make.post("=HYPERLINK(1)")
    happened(1, id="=1+1")

    told = lines("?event=agent.switched")

    assert told.startswith("\ufeffID,At,Entry,Event,Who,")
    rows = list(csv.DictReader(io.StringIO(told.lstrip("\ufeff"))))
    assert [row["Event"] for row in rows] == ["agent.switched"]
    assert rows[0]["Who"] == "admin"
    assert json.loads(rows[0]["Details"]) == {"id": "=1+1"}
    for row in csv.reader(io.StringIO(lines())):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)
    first = Event.objects.filter(name="activity.exported").earliest("id")
    assert first.payload == {"format": "csv", "chosen": {"event": "agent.switched"}}


def test_the_export_in_lines_of_json_holds_every_entry_once() -> None:
    made = happened(1_203)

    told = [json.loads(text) for text in lines("?format=jsonl").splitlines()]

    ids = [entry["id"] for entry in told if entry["event"] == "agent.switched"]
    assert ids == [event.pk for event in reversed(made)]
    assert told[0]["event"] == "activity.exported"


def test_a_page_takes_as_many_statements_for_many_entries() -> None:
    post = make.post()
    client = ApiClient("admin")
    counts = []
    for number in (5, 50):
        for _ in range(number):
            outbox.record("post.exported", actor=make.actor("admin"), payload={}, post_id=post.pk)
        client.read(f"{LIST}?per_page=100")
        counts.append(count_queries(client.read, f"{LIST}?per_page=100"))
    assert counts[0] == counts[1]


def tail(**arguments: Any) -> Any:
    principal = Principal(id="ops", user_id=make.user("admin").pk, diagnostics=True)
    result = call_tool(principal, "tail_activity_logs", arguments)
    return result.structured_content if not result.is_error else result.meta["cms/error"]


def test_an_ai_client_reads_the_tail_where_it_was_granted() -> None:
    post = make.post("How to brew")
    make.form()
    make.submission(email="a@example.com", message="Canary words")

    found = tail(limit=3)["items"]
    assert [len(found), found[0]["event"]] == [3, "form.submit"]
    assert "Canary words" not in str(found)
    assert {*found[0]} == {"id", "createdAt", "event", "sentence", "door"}
    mine = tail(entityId=str(post.pk), action="post.created", format="full")
    assert [entry["sentence"] for entry in mine["items"]] == ["admin created ‘How to brew’"]
    assert mine["items"][0]["payload"]["slug"] == "how-to-brew"
    assert mine["total"] == 1
    assert tail(action="nothing")["details"].keys() == {"action"}
    assert tail(entityId="x") == {"items": [], "total": 0}

    plain = Principal(id="plain", user_id=make.user("admin").pk)
    assert call_tool(plain, "tail_activity_logs", {}).is_error
