"""The tail of the activity log: for an account without permissions but with the grant, paginated,
without secrets.
"""

from __future__ import annotations

from typing import Any

import pytest

from agents_app.runs.creation import create_run
from proofroom.accounts.services.users import change_user
from proofroom.core import outbox
from tests import make
from tests.diagnostics.asking import refusal, told
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def tail(**arguments: Any) -> dict[str, Any]:
    return told("tail_activity_logs", **arguments)


def sentences(**arguments: Any) -> list[str]:
    return [item["sentence"] for item in tail(**arguments)["items"]]


def recorded(name: str, **payload: Any) -> None:
    outbox.record(name, actor=make.actor("admin"), payload=payload)


def test_a_plain_agents_account_learns_what_happened_to_what() -> None:
    """Granted by the operator, independent of the role's permissions."""
    make.webhook("Search")
    change_user(user_id=make.user("translator").pk, role="editor", actor=make.actor("admin"))

    assert sentences(action="webhook") == ["admin created the webhook ‘Search’"]
    (changed,) = tail(action="user.changed", format="full")["items"]
    assert changed["payload"]["role"] == "editor"


def test_visitor_texts_addresses_and_secrets_are_not_returned() -> None:
    make.form()
    make.submission(email="ann@example.com", message="Canary words")
    recorded("webhook.test", apiKey="canary-key", note="from 203.0.113.9 by bob@example.com")

    shown = str(tail(limit=100, format="full"))

    for kept in ("Canary words", "ann@example.com", "canary-key", "203.0.113.9", "bob@example.com"):
        assert kept not in shown
    assert "from [address] by [address]" in shown


def test_pages_are_whole_while_the_log_grows() -> None:
    for number in range(7):
        recorded("sitemap.rebuilt", urls=number)
    seen, arguments = [], {"limit": 3, "action": "sitemap.rebuilt", "format": "full"}

    found = tail(**arguments)
    while True:
        seen += [item["payload"]["urls"] for item in found["items"]]
        if "nextCursor" not in found:
            break
        recorded("sitemap.rebuilt", urls=99)
        found = tail(**arguments, cursor=found["nextCursor"])

    assert seen == [6, 5, 4, 3, 2, 1, 0]


def test_a_cursor_is_of_its_own_list() -> None:
    for number in range(3):
        recorded("sitemap.rebuilt", urls=number)
    cursor = tail(limit=1)["nextCursor"]

    assert refusal("tail_activity_logs", cursor=cursor, action="sitemap.rebuilt")[0] == "invalid"
    assert refusal("tail_activity_logs", cursor="x" * 50)[0] == "invalid"


def test_one_thing_is_named_by_its_id_whatever_it_is() -> None:
    post, file, hook = make.post("Tea"), make.image(), make.webhook("Search")
    run = create_run(
        agent_id="seo-specialist", scope="dropdown", actor=make.actor(), post_id=post.pk
    )
    user = make.user("translator")
    change_user(user_id=user.pk, role="editor", actor=make.actor("admin"))
    make.form()
    make.submission(email="a@example.com", message="x")

    assert "admin created ‘Tea’" in sentences(entityId=str(post.pk))
    assert "admin created ‘Tea’" in sentences(entityId=post.pk.hex.upper())
    assert sentences(entityId=str(file.pk))[0].startswith("admin uploaded ‘")
    assert sentences(entityId=str(hook.pk)) == ["admin created the webhook ‘Search’"]
    assert any("run" in said for said in sentences(entityId=str(run.pk)))
    assert any("run" in said for said in sentences(entityId="seo-specialist"))
    assert "admin changed an account" in sentences(entityId=str(user.pk))
    assert "visitor submitted the form ‘contact’" in sentences(entityId="contact")
    assert tail(entityId="9" * 100) == {"items": [], "total": 0}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": "nothing"}, "invalid"),
        ({"action": "post.publishd"}, "invalid"),
        ({"action": "%"}, "invalid"),
        ({"action": "run.step\x00"}, "invalid_arguments"),
        ({"entityId": "\ud800"}, "invalid_arguments"),
        ({"entityId": "x" * 101}, "invalid_arguments"),
        ({"entityId": 7}, "invalid_arguments"),
        ({"limit": 0}, "invalid_arguments"),
        ({"limit": 101}, "invalid_arguments"),
        ({"limit": True}, "invalid_arguments"),
        ({"cursor": "\x00"}, "invalid_arguments"),
        ({"cursor": "ä"}, "invalid"),
        ({"ip": "127.0.0.1"}, "invalid_arguments"),
    ],
    ids=ascii,
)
def test_what_does_not_fit_is_refused(arguments: dict[str, Any], code: str) -> None:
    assert refusal("tail_activity_logs", **arguments)[0] == code


def test_a_misspelt_event_is_a_lesson() -> None:
    _, text = refusal("tail_activity_logs", action="post.publishd")

    assert "did you mean post.published?" in text


def test_a_page_takes_as_many_statements_for_many_entries() -> None:
    counts = []
    for number in (5, 50):
        for _ in range(number):
            recorded("sitemap.rebuilt", urls=1)
        tail(limit=100)
        counts.append(count_queries(tail, limit=100))

    assert counts[0] == counts[1]
