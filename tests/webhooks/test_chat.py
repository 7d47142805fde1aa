"""Chat messages: one sentence per selected event, with inert texts."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from cms_project.folders import BASE_DIR
from proofroom.accounts.models import User
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    notification_kinds,
)
from proofroom.notifications.services import add_notifications
from proofroom.webhooks.chat import find_problem, plain, queue_notices, sentence_of
from proofroom.webhooks.models import Attempt, Delivery
from proofroom.webhooks.services.test_calls import test_chat as try_chat
from tests import make
from tests.api_client import ApiClient
from tests.commands import run_command
from tests.conftest import RunOnCommit
from tests.receiver import Receiver, Reply
from tests.webhooks import sending

pytestmark = pytest.mark.django_db
PATH = "/services/T00/B00/canary-of-the-chat"
SITE = "http://127.0.0.1:8000"
JOINER = "\u2060"


@pytest.fixture
def chat(receiver: Receiver, env: Any) -> Receiver:
    env(chat_webhook_url=receiver.url(PATH))
    return receiver


def happened(
    event_name: str, /, *, by: Actor | None = None, post_id: str | None = None, **data: Any
) -> Event:
    return outbox.record(
        event_name,
        actor=by or make.actor("admin"),
        payload={"status": "draft", "url": "", **data},
        post_id=post_id,
    )


def test_what_people_do_reaches_the_chat_by_itself(
    chat: Receiver, run_on_commit: RunOnCommit
) -> None:
    with run_on_commit():
        post = make.post("Green tea")
    with run_on_commit():
        make.staged(post, {"excerpt": "Fresh"})

    published, proposed = chat.at(PATH)
    assert published.json() == {"text": f"admin published “Green tea”: {SITE}{post.path}"}
    assert proposed.json() == {
        "text": "The agent seo-specialist proposed changes to “Green tea” in AI Review: "
        f"{SITE}/admin/content/post/{post.pk}/review/?layer=ai-review"
    }
    names = {name for name in proposed.headers if name.startswith("x-")}
    assert names == set()
    rows = Delivery.objects.values_list("lane", "status", "post_id")
    assert set(rows) == {("chat", "succeeded", post.pk)}


def test_without_a_chat_nothing_is_queued(run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        make.post("Green tea")

    assert not Delivery.objects.exists()


def test_only_what_the_chat_wants_is_queued(chat: Receiver, env: Any) -> None:
    env(chat_webhook_url=chat.url(PATH), chat_events=("post.deleted",))

    for name in ("post.published", "post.deleted"):
        queue_notices([happened(name)])

    assert [row.event_name for row in Delivery.objects.all()] == ["post.deleted"]


def test_told_twice_it_is_queued_once_and_what_was_forgotten_is_not(chat: Receiver) -> None:
    event = happened("post.published")
    gone = happened("post.published")
    outbox.forget([gone.pk])
    gone.refresh_from_db()

    for told in (event, event, gone):
        queue_notices([told])

    assert [row.event for row in Delivery.objects.all()] == [event]


def test_a_failed_chat_message_is_retried_and_its_url_stays_hidden(chat: Receiver) -> None:
    token = PATH.rpartition("/")[2]
    chat.say(PATH, Reply(500, body=f"no hook at {PATH}, none is {token}".encode()), Reply(200))
    event = happened("post.published", title="Tea")
    queue_notices([event])

    sending.send()
    first = sending.state_of(event)
    sending.make_due()
    sending.send()

    assert first[0::2] == ("pending", 500)
    assert sending.state_of(event)[0] == "succeeded"
    row = Delivery.objects.get()
    client = ApiClient("admin")
    page = client.get(f"/admin/proofroom_webhooks/delivery/{row.pk}/change/").content.decode()
    shown = client.get("/admin/proofroom_webhooks/workflowswitch/").content.decode()
    answer = str(client.read(f"/api/webhook-deliveries/{row.pk}"))
    stored = repr([list(Attempt.objects.values()), list(Delivery.objects.values())])
    assert "Notifications go to 127.0.0.1." in shown
    assert "published" in answer
    for text in (page, shown, answer, stored, repr(list(Event.objects.values()))):
        assert "canary-of-the-chat" not in text


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Q&A", "Q＆A"),
        ("<!channel> <!here>", "‹!channel› ‹!here›"),
        ("<https://evil.example|Log in>", f"‹https∶//evil.{JOINER}example¦Log in›"),
        ("[Log in](https://evil.example)", f"［Log in］(https∶//evil.{JOINER}example)"),
        ("![](https://evil.example/?q=1)", f"!［］(https∶//evil.{JOINER}example/?q=1)"),
        ("www.evil.example", f"www.{JOINER}evil.{JOINER}example"),
        ("evil。example", f"evil。{JOINER}example"),
        ("@channel @here @all", "＠channel ＠here ＠all"),
        ("mailto:a@evil.example", f"mailto∶a＠evil.{JOINER}example"),
        ("~town-square #general :smile:", "∼town-square ＃general ∶smile∶"),
        ("*b* _i_ `c` \\", "∗b∗ ＿i＿ ˋcˋ ＼"),
        ("two\nlines\r\n\u2028three\tfour", "two lines three four"),
        ("turned \u202eround\u202c\u200b", "turned round"),
        ("&lt;!channel&gt;", "＆lt;!channel＆gt;"),
        ("Version 2.0. Out now.", f"Version 2.{JOINER}0. Out now."),
        ("x" * 200, "x" * 119 + "…"),
        ("", ""),
    ],
)
def test_threat_36_titles_inject_nothing(title: str, shown: str) -> None:
    assert plain(title) == shown


def test_names_and_titles_are_made_plain_in_sentences() -> None:
    user = make.user("editor")
    user.username = "eve@evil.example"
    event = happened(
        "post.published", by=Actor(user=user, via="admin"), title="<!here>", status="published",
        url="/de/a_b/(c)*?q=<x>|y",
    )  # fmt: skip

    assert sentence_of(event) == (
        f"eve＠evil.{JOINER}example published “‹!here›”: {SITE}/de/a_b/%28c%29%2A%3Fq%3D%3Cx%3E%7Cy"
    )


POST = "8d6c8a4e-6f6e-4f5e-9a53-3d7a4d1c2b10"


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("post.created", {"title": "Tea"}, f"admin created “Tea”: {SITE}/admin/content/post/{POST}/change/"),
        ("post.deleted", {"title": "Tea"}, "admin moved “Tea” to the trash."),
        ("post.updated", {"title": "Tea", "status": "published", "url": "/tea"}, f"admin changed “Tea”: {SITE}/tea"),
        ("post.review.save", {"title": "Tea"},
         f"admin saved changes to “Tea” for review: {SITE}/admin/content/post/{POST}/review/?layer=review"),
        ("post.review.reject", {},
         f"admin rejected changes to a post in Review: {SITE}/admin/content/post/{POST}/change/"),
        ("feedback.created", {}, f"Feedback added, by admin: {SITE}/admin/content/post/{POST}/change/"),
    ],
)  # fmt: skip
def test_sentences_of_posts(name: str, data: dict[str, Any], text: str) -> None:
    assert sentence_of(happened(name, post_id=POST, **data)) == text


def test_a_client_that_writes_as_an_agent_is_shown_as_the_agent() -> None:
    client = make.mcp_actor("editor").as_agent("seo-specialist")
    event = happened("post.ai-review.save", by=client, post_id=POST, title="Tea")

    assert sentence_of(event).startswith(
        "An AI client as the agent seo-specialist proposed changes to “Tea” in AI Review: "
    )


def test_visitor_texts_are_never_shown() -> None:
    visitor = Actor(user=Visitor(username="canary"), via="site")
    event = happened(
        "form.submitted", by=visitor, formSlug="contact", title="canary", payload={"a": "canary"}
    )

    assert sentence_of(event) == "Form submitted: the form “contact”."


def test_a_disabled_webhook_is_reported_by_name() -> None:
    event = happened("webhook.disabled", name="Search <index>", reason="canary")

    assert sentence_of(event) == (
        "The webhook “Search ‹index›” was turned off because its address failed for a day: "
        f"{SITE}/admin/proofroom_webhooks/webhook/"
    )


@pytest.mark.parametrize(
    ("name", "agent_id", "text"),
    [
        ("near", "translator", "The agent translator used most of this month’s budget"),
        (
            "reached",
            None,
            "All agents together used up this month’s budget. Runs fail until it resets",
        ),
    ],
)
def test_a_budget_refusal_links_the_page_that_sets_it(
    name: str, agent_id: str | None, text: str
) -> None:
    event = happened(f"agent.budget.{name}", agentId=agent_id, period="month")
    assert sentence_of(event) == f"{text}: {SITE}/admin/agents_app/aisettings/"


def test_it_works(chat: Receiver, run_on_commit: RunOnCommit) -> None:
    client = ApiClient("admin")
    client.get("/admin/")
    token = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}

    with run_on_commit():
        response = client.post("/admin/proofroom_webhooks/workflowswitch/chat/test/", token)

    [seen] = chat.at(PATH)
    assert seen.json() == {"text": "It works: admin tried out the notices."}
    row = Delivery.objects.get()
    assert (row.status, row.event_name) == ("succeeded", "chat.test")
    assert response["Location"] == f"/admin/proofroom_webhooks/delivery/{row.pk}/change/"


def test_a_test_message_needs_a_chat_and_permission(env: Any) -> None:
    with pytest.raises(RuleViolation, match="CHAT_WEBHOOK_URL is not set"):
        try_chat(actor=make.actor("admin"))
    env(chat_webhook_url="https://chat.example.com/hook")
    for actor in (make.actor("editor"), make.mcp_actor("admin")):
        with pytest.raises(NotAllowed):
            try_chat(actor=actor)

    assert not Event.objects.exists()
    assert not Delivery.objects.exists()


def test_a_removed_chat_gets_no_pending_messages(chat: Receiver, env: Any) -> None:
    event = happened("post.published")
    queue_notices([event])
    env(chat_webhook_url=None)

    assert sending.send() == 0

    assert chat.requests == []
    assert sending.state_of(event)[0::3] == ("cancelled", "CHAT_WEBHOOK_URL is not set any more.")


def test_a_wrong_name_in_chat_events_stops_the_start_with_a_sentence() -> None:
    environ = {**os.environ, "CHAT_EVENTS": "post.published,post.publishd"}

    ended = run_command([sys.executable, "manage.py", "check"], cwd=BASE_DIR, env=environ)

    assert ended.returncode == 1
    assert ended.stderr.startswith("CHAT_EVENTS names 'post.publishd'; known: ")
    assert "Traceback" not in ended.stderr


def test_what_may_be_in_chat_events() -> None:
    assert find_problem(("post.published", "webhook.disabled", "user.created")) == ""
    assert find_problem(("search.stale",)).startswith("CHAT_EVENTS names 'search.stale'; known: ")


def mentions_of(*people: Actor) -> NotificationKind:
    """Return a kind of mentions: every exported post mentions these people."""
    ids = [person.user.pk for person in people]
    return NotificationKind(
        "tests.mention",
        "Mentions",
        "posts.view",
        ("post.exported",),
        lambda event: [Notice(ids, str(event.pk), str(event.pk))],
        lambda _rows: {},
        category=Category.MENTION,
    )


def test_mentions_reach_the_chat_with_the_names_of_who_may_see_them(chat: Receiver) -> None:
    editor, translator, gone = map(make.actor, ("editor", "translator", "admin"))
    post = make.post("Green tea")
    User.objects.filter(pk=gone.user.pk).update(is_active=False)
    kind = mentions_of(editor, translator, gone)

    with notification_kinds.registered_temporarily(kind, name=kind.name):
        event = happened("post.exported", title="Green tea", post_id=str(post.pk))
        add_notifications([event])
        add_notifications([event])  # once more

        assert [row.event_name for row in Delivery.objects.all()] == ["post.exported"]
        assert sentence_of(event) == (
            "admin mentioned editor, translator in a comment on “Green tea”: "
            f"{SITE}/admin/content/post/{post.pk}/change/"
        )


def test_many_mentions_are_counted_and_names_are_inert() -> None:
    people = [make.actor("editor")]
    people += [Actor(make.user("editor", f"p{n}"), "admin") for n in range(6)]
    kind = mentions_of(*people)

    with notification_kinds.registered_temporarily(kind, name=kind.name):
        sentence = sentence_of(happened("post.exported", title="@channel <!here>"))

    assert sentence == (
        "admin mentioned editor, p0, p1, p2, p3 and 2 more in a comment on “＠channel ‹!here›”."
    )


@pytest.mark.parametrize("settings_of_chat", [{"chat_mentions": False}, {"chat_webhook_url": None}])
def test_mentions_stay_out_of_the_chat(
    settings_of_chat: dict[str, Any], chat: Receiver, env: Any
) -> None:
    env(**{"chat_webhook_url": chat.url(PATH)} | settings_of_chat)
    kind = mentions_of(make.actor("editor"))

    with notification_kinds.registered_temporarily(kind, name=kind.name):
        add_notifications([happened("post.exported", title="Tea")])

    assert not Delivery.objects.exists()
