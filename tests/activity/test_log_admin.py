"""The activity log in the admin."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.utils import timezone

from mcp_bridge.access.tokens import create_token
from mcp_bridge.call_log import principal_of
from proofroom.accounts.services.sign_in import record_failed_login
from proofroom.accounts.services.users import change_user
from proofroom.core import outbox
from proofroom.core.activity.chain import seal_events
from proofroom.core.activity.presenters import present, sentence_of
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from tests import make
from tests.activity.chain import happened
from tests.api_client import ApiClient
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
LIST = "/admin/proofroom_core/event/"


def page(path: str = LIST, role: str = "admin", status: int = 200) -> str:
    answer = ApiClient(role).get(path)
    assert answer.status_code == status, answer.content[:500]
    text: str = answer.content.decode()
    return text


def test_the_list_says_in_sentences_what_happened() -> None:
    post = make.post("How to brew")
    make.staged(post, {"excerpt": "Short", "metaTitle": "Brew"})

    text = page()

    assert "proposed 2 changes to ‘How to brew’ in AI Review" in text
    assert "admin created ‘How to brew’" in text
    assert "search.stale" not in text
    assert "Search updated" not in text


@pytest.mark.parametrize(
    ("name", "payload", "sentence"),
    [
        ("webhook.created", {"name": "Search"}, "admin created the webhook ‘Search’"),
        ("webhook.changed", {"name": "Search"}, "admin changed the webhook ‘Search’"),
        ("webhook.deleted", {"name": "Search"}, "admin deleted the webhook ‘Search’"),
        ("webhook.replayed", {"webhookId": "1"}, "admin resent deliveries"),
        ("webhook.replayed", {"cancelled": True}, "admin stopped resending deliveries"),
        ("workflow.switched", {"workflowId": "n8n", "enabled": True}, "admin turned on ‘n8n’"),
        ("workflow.test", {"workflowId": "n8n", "slug": "test"}, "admin tested the workflow ‘n8n’"),
        ("module-group.created", {"name": "Contact"}, "admin created the module group ‘Contact’"),
        ("invitation.created", {"email": "a@b.org"}, "admin invited ‘a@b.org’"),
        ("invitation.created", {}, "admin invited a person"),
        ("mcp_token.created", {"name": "Cursor"}, "admin created the MCP token ‘Cursor’"),
        ("token.revoked", {}, "admin revoked an API token"),
        (
            "user.second-factor-added",
            {"type": "totp"},
            "admin added a login method: authenticator app",
        ),
        ("mcp.called", {"tool": "a", "ok": False}, "admin called ‘a’, which was rejected"),
        ("user.changed", {"id": 1, "changed": ["role"]}, "admin changed an account"),
        (
            "media.variants",
            {"filename": "a.png", "did": "made"},
            "admin created the sizes of ‘a.png’",
        ),
        (
            "media.variants",
            {"filename": "a.png", "did": "failed"},
            "admin could not create the sizes of ‘a.png’",
        ),
    ],
)
def test_a_sentence_names_what_was_changed(
    name: str, payload: dict[str, Any], sentence: str
) -> None:
    assert sentence_of(name, payload, "admin", "") == sentence


def test_a_change_of_role_says_whose_and_which_and_clients_have_their_names() -> None:
    make.site_role("coffee", "posts.view")
    editor, admin = make.user("editor"), make.actor("admin")
    change_user(user_id=editor.pk, role="coffee", actor=admin)
    token, _secret = create_token(name="Cursor", user_id=editor.pk, actor=admin)
    client = Actor(user=admin.user, via="mcp", principal=principal_of(token))
    outbox.record("mcp.called", actor=client, payload={})
    names = ["user.changed", "mcp.called"]
    events = {event.name: event for event in Event.objects.filter(name__in=names)}

    changed, called = present([events[name] for name in names], admin)

    assert changed["sentence"] == "admin changed the role of ‘editor’ to ‘Coffee’"
    assert changed["payload"]["roleBefore"] == "editor"
    assert called["door"] == "AI client (MCP): Cursor"


def test_whose_login_failed_is_named_to_who_manages_accounts_alone() -> None:
    editor = make.user("editor")
    record_failed_login(editor.email, via="admin")
    record_failed_login("nobody@example.com", via="admin")
    events = [*Event.objects.filter(name="user.login-failed").order_by("pk")]

    said = [
        [entry["sentence"] for entry in present(events, make.actor(role))]
        for role in ("admin", "editor")
    ]

    unnamed = "visitor tried to log in and failed"
    assert said == [["visitor tried to log in as ‘editor’ and failed", unnamed], [unnamed] * 2]


@pytest.mark.parametrize(
    ("query", "is_there"),
    [
        ("?kind=agent", True),
        ("?kind=agent.switched", True),
        ("?kind=post", False),
        ("?kind=nothing", False),
        ("?via=api", True),
        ("?via=mcp", False),
        ("?actor=nobody", False),
        ("?agent=somebody", False),
        ("?post=nothing", False),
        ("?telling=given-up", False),
        ("?q=agent.switched", True),
        ("?q=99999999999999999999999", False),
        ("?q=00000000-0000-4000-8000-000000000000", False),
    ],
)
def test_the_list_is_narrowed(query: str, is_there: bool) -> None:
    happened(1)

    assert ("turned off ‘agent-0’" in page(LIST + query)) is is_there


def test_the_way_back_is_called_as_the_list_is() -> None:
    happened(1)
    event = Event.objects.get()

    assert '<a href="/admin/proofroom_core/event/">Activity log</a>' in page(
        f"{LIST}{event.pk}/change/"
    )
    assert "&rsaquo; Activity log</div>" in page()


def test_the_export_takes_what_the_list_shows() -> None:
    post = make.post("How to brew")
    happened(1)
    today = timezone.now().date()
    day = f"created_at__gte={today}+00%3A00%3A00%2B00%3A00"

    text = page(
        f"{LIST}?kind=post&post={post.pk}&{day}&via={Event.objects.get(name='post.created').via}"
    )
    [href] = re.findall(r'href="(/api/activity/export\?format=csv[^"]*)"', text)
    answer = ApiClient("admin").get(html.unescape(href))

    rows = b"".join(answer).decode().splitlines()[1:]
    assert [row.split(",")[3] for row in rows] == [
        "post.publish",
        "post.published",
        "post.created",
    ]


def test_an_entry_is_found_by_its_ids() -> None:
    post = make.post()
    event = Event.objects.get(name="post.created")

    for text in (event.pk, event.uid, post.pk):
        assert "admin created" in page(f"{LIST}?q={text}")
    assert "admin created" in page(f"{LIST}?post={post.pk}")


def test_the_list_takes_as_many_statements_for_many_rows() -> None:
    post = make.post()
    client = ApiClient("admin")
    counts = []
    for number in (5, 30):
        happened(number)
        for _ in range(number):
            outbox.record("post.exported", actor=make.actor("admin"), payload={}, post_id=post.pk)
        seal_events()
        client.get(LIST)
        counts.append(page_queries(client, LIST))
    assert counts[0] == counts[1]


def test_an_entrys_page_shows_its_link_and_its_causes() -> None:
    (cause,) = happened(1)
    actor = make.actor("editor")
    effect = outbox.record(
        "agent.run.finished",
        actor=type(actor)(user=actor.user, via="system", event_id=cause.pk, hop=1),
        payload={"agentId": "seo-specialist", "status": "failed", "apiToken": "canary-secret"},
    )
    seal_events()

    text = page(f"{LIST}{effect.pk}/change/")

    assert "editor finished a run of ‘SEO specialist’: failed" in text
    assert f'href="{LIST}{cause.pk}/change/"' in text
    assert "Link 2" in text
    assert effect.seal.hash[:12] in text
    assert "canary-secret" not in text
    assert "[hidden]" in text
    assert f'href="{LIST}{effect.pk}/change/"' in page(f"{LIST}{cause.pk}/change/")


def test_words_of_visitors_are_not_shown() -> None:
    make.form()
    submission = make.submission(email="a@example.com", message="Canary words")

    text = page(f"{LIST}{submission.event_ids[0]}/change/") + page()

    assert "Text from visitors is not shown in the log." in text
    assert "contact" in text
    assert "Canary words" not in text
    assert "a@example.com" not in text


def test_a_given_up_event_is_delivered_again() -> None:
    (event,) = happened(1, "post.approve")
    Event.objects.filter(pk=event.pk).update(dispatched_at=None, attempts=outbox.MAX_ATTEMPTS)
    assert "Try again" in page(f"{LIST}{event.pk}/change/")

    answer: Any = ApiClient("admin").post(f"{LIST}{event.pk}/tell-again/")
    assert answer.status_code == 403  # without the token of the form
    client = ApiClient("admin")
    token = client.cookies["csrftoken"].value
    answer = client.post(f"{LIST}{event.pk}/tell-again/", {"csrfmiddlewaretoken": token})

    assert answer.status_code == 302
    assert Event.objects.filter(name="events.told-again").count() == 1
    event.refresh_from_db()
    assert event.attempts < outbox.MAX_ATTEMPTS


@pytest.mark.parametrize("role", ["editor", "translator"])
def test_others_see_nothing_of_it(role: str) -> None:
    (event,) = happened(1)

    page(role=role, status=403)
    page(f"{LIST}{event.pk}/change/", role=role, status=403)


def test_what_is_not_there_is_404() -> None:
    page(f"{LIST}999999/change/", status=404)
    page(f"{LIST}99999999999999999999999/change/", status=404)
