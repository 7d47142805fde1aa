"""Batches from the post list in the admin: estimate, creation, cancel, retry, revert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents_app.batches.lifecycle import create_bulk_runs, revert_batch_runs
from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import switch_agent
from agents_app.models import AgentBatch, AgentRun, Budget
from agents_app.runs import execution
from content.models import Post
from content.posts.trash import delete_post
from proofroom.core.errors import NotAllowed
from tests import make
from tests.admin.pages import fields
from tests.agents.environment import write_agent
from tests.api_client import ApiClient
from tests.browser.agents_scene import run

pytestmark = pytest.mark.django_db

SignedIn = Callable[..., Client]

LIST = "/admin/content/post/"

BULK = "/admin/agents_app/bulk/"


def posts(number: int = 3) -> list[Post]:
    return [make.post(f"Post {n}", slug=f"post-{n}") for n in range(number)]


def chosen(client: Client, of: list[Post]) -> Any:
    """Return the page after selecting posts in the list."""
    ids = [str(post.pk) for post in of]
    return client.post(LIST, {"action": "run_agent", "_selected_action": ids, "index": "0"})


def begun(client: Client, of: list[Post], **more: str) -> AgentBatch:
    sent = {**fields(chosen(client, of), "ids"), "agent": "seo-specialist", "do": "run", **more}
    response = client.post(BULK, sent)
    batch = AgentBatch.objects.get()
    assert response["Location"] == f"/admin/agents_app/agentbatch/{batch.pk}/change/"
    return batch


def page(client: Client, batch: AgentBatch) -> str:
    return client.get(f"/admin/agents_app/agentbatch/{batch.pk}/change/").content.decode()


def finish(batch: AgentBatch) -> None:
    for waiting in batch.runs.filter(status="queued"):
        execution.execute_run(waiting.pk)


def test_marked_posts_lead_to_the_page_that_says_what_it_costs(signed_in: SignedIn) -> None:
    several = posts()

    response = chosen(signed_in("admin"), several[:2])

    html = response.content.decode()
    assert sorted(fields(response, "ids")["ids"]) == sorted(str(post.pk) for post in several[:2])
    assert "Run on 2 posts" in html
    assert "Demo (no AI)" in html
    assert "answers by fixed rules, free of charge" in html
    assert not AgentRun.objects.exists()


def test_only_who_may_begin_batches_is_offered_them(signed_in: SignedIn) -> None:
    several = posts(1)
    editor = signed_in()
    assert "run_agent" not in editor.get(LIST).content.decode()
    assert "run_agent" in signed_in("admin").get(LIST).content.decode()

    chosen(editor, several)

    assert editor.post(BULK, {"ids": str(several[0].pk), "do": "run"}).status_code == 403
    assert not AgentBatch.objects.exists()


def test_a_batch_runs_and_its_page_says_what_came_of_each_post(signed_in: SignedIn) -> None:
    several, client = posts(), signed_in("admin")
    before = make.live_hash()

    batch = begun(client, several, words="Mind <b>names</b>")

    html = page(client, batch)
    assert "0 of 3 finished" in html
    assert "Cancel remaining runs" in html
    assert "Mind &lt;b&gt;names&lt;/b&gt;" in html
    finish(batch)
    html = page(client, batch)
    assert "3 of 3 finished" in html
    assert "Cancel remaining runs" not in html
    for post in several:
        assert f"/admin/content/post/{post.pk}/review/?layer=ai-review" in html
    assert make.live_hash() == before


def test_another_agent_than_the_estimated_is_estimated_first(signed_in: SignedIn) -> None:
    several, client = posts(1), signed_in("admin")
    sent = {**fields(chosen(client, several), "ids"), "do": "run"}
    assert sent["estimated"] == ["seo-specialist"]

    response = client.post(BULK, {**sent, "agent": "proofreader"})

    assert response.status_code == 422
    assert (
        "You selected another agent. Check the estimated cost, then run it"
        in response.content.decode()
    )
    assert fields(response, "ids")["estimated"] == ["proofreader"]
    assert not AgentBatch.objects.exists()


def test_what_does_not_last_is_said_beforehand(signed_in: SignedIn, openai: Any) -> None:
    openai()
    Budget.objects.create(agent_id="seo-specialist", tokens_per_day=10, cost_per_month=Decimal(50))

    html = chosen(signed_in("admin"), posts(1)).content.decode()

    assert "10 tokens" in html
    assert "$50.00" in html
    assert "The budget is not enough for all posts" in html


def test_what_was_not_finished_is_cancelled_and_run_again(signed_in: SignedIn) -> None:
    several, client = posts(2), signed_in("admin")
    batch = begun(client, several)
    address = f"/admin/agents_app/agentbatch/{batch.pk}/"

    client.post(f"{address}cancel/")

    assert set(batch.runs.values_list("status", flat=True)) == {"cancelled"}
    assert "Run all 2 again" in page(client, batch)
    first = batch.runs.order_by("created_at").first()
    assert first is not None
    client.post(f"{address}again/", {"run": str(first.pk)})
    assert batch.runs.filter(status="queued").get().first_try_id == first.pk
    finish(batch)
    assert "2 of 2 finished" in page(client, batch)


def test_a_batch_is_taken_back_after_a_question(signed_in: SignedIn) -> None:
    several, client = posts(2), signed_in("admin")
    batch = begun(client, several)
    finish(batch)
    address = f"/admin/agents_app/agentbatch/{batch.pk}/revert/"
    assert "changes that SEO specialist made to 2 posts" in client.get(address).content.decode()
    assert make.layers(several[0]).ai_review.exists
    assert "review/?layer=ai-review" in page(client, batch)

    client.post(address)
    revert_batch_runs(batch.pk)

    assert not any(make.layers(post).ai_review.exists for post in several)
    html = page(client, batch)
    assert "Undone" in html
    assert "review/?layer=ai-review" not in html
    assert "removed." in html


@pytest.mark.parametrize("page_of", ["cancel", "again", "revert"])
def test_an_editor_reads_a_batch_and_does_nothing_with_it(
    signed_in: SignedIn, page_of: str
) -> None:
    batch = begun(signed_in("admin"), posts(1))
    editor = signed_in()
    assert "Cancel remaining runs" not in page(editor, batch)

    response = editor.post(f"/admin/agents_app/agentbatch/{batch.pk}/{page_of}/")

    assert response.status_code == 403
    assert batch.runs.get().status == "queued"


def test_an_agent_that_is_off_is_not_offered_and_not_begun(signed_in: SignedIn) -> None:
    several, client = posts(1), signed_in("admin")
    sent = fields(chosen(client, several), "ids")
    switch_agent(agent_id="seo-specialist", enabled=False, actor=make.actor("admin"))

    response = client.post(
        BULK, {**sent, "agent": "seo-specialist", "estimated": "seo-specialist", "do": "run"}
    )

    assert response.status_code == 422
    assert "SEO specialist" not in response.content.decode()
    assert not AgentBatch.objects.exists()


def test_neither_the_list_nor_a_batch_takes_a_query_for_each(signed_in: SignedIn) -> None:
    client, several = signed_in("admin"), posts(4)
    counts = []
    for number in range(4):
        batch = AgentBatch.objects.create(agent_id="seo-specialist", by_name="admin")
        for post in several[: number + 1]:
            run(post, scope="posts.bulk", batch=batch, staged=["post.title"])
        with CaptureQueriesContext(connection) as queries:
            listed = client.get("/admin/agents_app/agentbatch/").content.decode()
            shown = page(client, batch)
        counts.append(len(queries))

    assert counts[1] == counts[3]
    assert listed.count("SEO specialist") == 5  # the filter is one
    assert shown.count("Review 1 change") == 4


@pytest.mark.parametrize("ids", [["nonsense"], [], ["x" * 10_000]], ids=["no-id", "none", "long"])
def test_no_post_begins_nothing(signed_in: SignedIn, ids: list[str]) -> None:
    sent = {"ids": ids, "agent": "proofreader", "estimated": "proofreader", "do": "run"}

    response = signed_in("admin").post(BULK, sent)

    assert response.status_code in (302, 422)
    assert not AgentRun.objects.exists()


URL = "/api/posts/bulk-agents/{}/run"


def send(agent_id: str, body: Any, expect: int) -> Any:
    return ApiClient("admin").write("POST", URL.format(agent_id), body, expect=expect)


def test_each_post_gets_a_run_once_in_the_order_of_the_ids() -> None:
    posts = [make.post(f"Post {number}", slug=f"post-{number}") for number in range(3)]
    ids = [str(post.pk) for post in posts]

    answer = send(
        "seo-specialist",
        {"ids": [ids[2], ids[0], ids[0].upper(), ids[1]], "openEndedContext": "Short, please"},
        201,
    )

    assert [run["postId"] for run in answer["data"]] == [ids[2], ids[0], ids[1]]
    assert {run["scope"] for run in answer["data"]} == {"posts.bulk"}
    assert answer["rejected"] == []
    rows = AgentRun.objects.all()
    assert {row.open_ended_context for row in rows} == {"Short, please"}
    assert {row.by_name for row in rows} == {"admin"}


def test_threat_12_foreign_ids_reveal_nothing() -> None:
    post, gone = make.post("Here"), make.post("Secret title", slug="gone")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    unknown, other = str(uuid4()), make.user("editor").pk

    answer = send(
        "seo-specialist",
        {"ids": [str(gone.pk), unknown, "nonsense", str(other), str(post.pk)]},
        201,
    )

    assert [run["postId"] for run in answer["data"]] == [str(post.pk)]
    sentence = "No post has the ID {}."
    assert answer["rejected"] == [
        {"id": id_, "error": sentence.format(id_)}
        for id_ in (str(gone.pk), unknown, "nonsense", str(other))
    ]
    assert "Secret" not in str(answer)


@pytest.mark.parametrize("missing", ["agents.edit", "posts.view"])
def test_threat_13_it_needs_the_agents_permission_and_the_posts(missing: str) -> None:
    post = make.post()
    admin = make.actor("admin")
    granted = frozenset({"agents.edit", "posts.view", "agents.view"}) - {missing}
    narrowed = replace(admin, permissions=granted)

    with pytest.raises(NotAllowed):
        create_bulk_runs(agent_id="seo-specialist", post_ids=[str(post.pk)], actor=narrowed)

    assert AgentRun.objects.count() == 0


def test_the_agent_must_run_in_bulk_and_be_on(agents_dir: Path) -> None:
    post = make.post()
    write_agent(agents_dir, "off", "posts.bulk", extra="enabled: false")
    definitions.reload()
    body = {"ids": [str(post.pk)]}

    assert send("general-assistant", body, 403)["code"] == "agent_not_in_scope"
    assert send("off", body, 404)["code"] == "unknown_agent"
    assert send("nobody", body, 404)["code"] == "unknown_agent"
    assert AgentRun.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "ids"),
        ({"ids": ["x"] * 101}, "ids"),
        ({"ids": "x"}, "ids"),
        ({"ids": [1]}, "ids.0"),
        ({"ids": ["a\u0000"]}, "ids.0"),
        ({"ids": ["x"], "openEndedContext": "x" * 2001}, "openEndedContext"),
        ({"ids": ["x"], "openEndedContext": 1}, "openEndedContext"),
        ({"ids": ["x"], "context": {}}, "context"),
    ],
)
def test_hostile_bodies_are_refused_and_start_nothing(body: Any, key: str) -> None:
    answer = send("seo-specialist", body, 422)
    assert set(answer["details"]) == {key}
    assert AgentRun.objects.count() == 0


def test_an_agent_that_takes_no_words_refuses_them() -> None:
    body = {"ids": [str(make.post().pk)], "openEndedContext": "Hi"}
    assert set(send("proofreader", body, 422)["details"]) == {"openEndedContext"}
    assert AgentRun.objects.count() == 0
