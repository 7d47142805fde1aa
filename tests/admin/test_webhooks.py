"""Webhooks and deliveries in the admin: created, changed, tested, resent; no secret on any page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from proofroom.core.models import Event
from proofroom.core.redaction import SECRET_MASK
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.models.webhook import WebhookChanges
from proofroom.webhooks.services.webhooks import update_webhook
from tests import make
from tests.admin import pages
from tests.queries import page_queries

pytestmark = pytest.mark.django_db

SignedIn = Callable[..., Client]

LIST = "/admin/proofroom_webhooks/webhook/"

DELIVERIES = "/admin/proofroom_webhooks/delivery/"

SECRET = "canary-secret-of-the-webhook"

VALUE = "canary-value-of-a-header"


@pytest.fixture
def admin(signed_in: SignedIn) -> Client:
    return signed_in("admin")


def typed(**given: Any) -> dict[str, Any]:
    return {
        "name": "Search",
        "url": "https://search.example/hook",
        "events": ["post.updated", "post.deleted"],
        "active": "on",
        **given,
    }


def page_of(row: Webhook) -> str:
    return f"{LIST}{row.pk}/change/"


def test_a_form_that_was_opened_earlier_writes_nothing_back(admin: Client) -> None:
    row = make.webhook()
    sent = pages.fields(admin.get(page_of(row)), "url")
    changes = WebhookChanges(url="https://other.example/hook")
    update_webhook(webhook_id=row.pk, actor=make.actor("admin"), changes=changes)

    refused = admin.post(page_of(row), {**sent, "name": "Renamed"})

    assert refused.status_code == 422
    row.refresh_from_db()
    assert (row.name, row.url) == ("Search", "https://other.example/hook")
    again = pages.fields(admin.get(page_of(row)), "url")
    assert admin.post(page_of(row), {**again, "name": "Renamed"}).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.url) == ("Renamed", "https://other.example/hook")


def test_empty_screens_say_what_comes_next(admin: Client) -> None:
    webhooks, deliveries = admin.get(LIST), admin.get(DELIVERIES)

    assert "A webhook calls your address when" in webhooks.content.decode()
    assert (
        "Try other search terms or fewer filters." in admin.get(f"{LIST}?q=unlike").content.decode()
    )
    assert "No deliveries yet." in deliveries.content.decode()


def test_a_webhook_is_made(admin: Client) -> None:
    headers = f"X-Team: editors\n\nAuthorization: {VALUE}"

    answer = admin.post(
        f"{LIST}add/", typed(types=["blog"], locales=["de"], headers=headers, secret=SECRET)
    )

    row = Webhook.objects.get()
    assert answer["Location"] == page_of(row)
    assert (row.name, row.events) == ("Search", ["post.deleted", "post.updated"])
    assert (row.types, row.locales, row.is_active, row.is_test) == (["blog"], ["de"], True, False)
    assert row.headers == {"X-Team": "editors", "Authorization": VALUE}
    assert row.secret == SECRET


def test_a_secret_is_made_and_shown_once(admin: Client) -> None:
    answer = admin.post(f"{LIST}add/", typed(generate="on"))

    row = Webhook.objects.get()
    assert len(row.secret) == 43
    assert row.secret in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert row.secret not in admin.get(page_of(row)).content.decode()

    first = row.secret
    page = admin.get(page_of(row))
    again = admin.post(page_of(row), pages.fields(page) | {"generate": "on"})

    row.refresh_from_db()
    assert (row.previous_secret, row.secret in again.content.decode()) == (first, True)
    assert "the old secret also signs" in again.content.decode()


def test_what_is_not_touched_stays(admin: Client) -> None:
    row = make.webhook(headers={"Authorization": VALUE}, secret=SECRET, types=["blog"])
    shown = pages.fields(admin.get(page_of(row)))

    answer = admin.post(page_of(row), {**shown, "name": "Other"})

    assert answer.status_code == 302
    row.refresh_from_db()
    assert (row.name, row.version, row.secret) == ("Other", 2, SECRET)
    assert (row.headers, row.types) == ({"Authorization": VALUE}, ["blog"])
    assert Event.objects.get(name="webhook.changed").payload["changed"] == ["name"]


def test_the_page_that_shows_a_made_secret_changes_the_webhook_and_makes_no_second(
    admin: Client,
) -> None:
    """It is answered at the URL of the empty form, to which a form without an action would be sent."""
    answer = admin.post(f"{LIST}add/", typed(generate="on"))

    row = Webhook.objects.get()
    assert f'<form method="post" action="{page_of(row)}"' in answer.content.decode()


def test_its_own_secret_and_a_rotation_can_be_given_up(admin: Client) -> None:
    row = make.webhook(secret=SECRET)
    admin.post(page_of(row), pages.fields(admin.get(page_of(row))) | {"shared": "on"})
    row.refresh_from_db()
    assert (row.secret, row.previous_secret) == ("", SECRET)

    shown = pages.fields(admin.get(page_of(row)))
    admin.post(page_of(row), {**shown, "endRotation": "on"})

    row.refresh_from_db()
    assert (row.secret, row.previous_secret) == ("", "")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"name": ""}, "This field is required."),
        ({"events": []}, "This field is required."),
        ({"events": ["post.eaten"]}, "is not one of the available choices"),
        ({"url": "http://127.0.0.1/"}, "127.0.0.1"),
        ({"secret": "x" * 201}, "at most 200 characters"),
        ({"headers": "no colon"}, "Line 1 has no colon"),
        ({"headers": "X-A: 1\nX-A: 2"}, "Line 2 repeats X-A."),
        ({"headers": "Host: other.example"}, "is set automatically"),
        ({"headers": f"X-A: {SECRET_MASK}"}, "Enter the value of X-A again"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode(),
)
def test_errors_are_shown_and_nothing_is_stored(
    admin: Client, given: dict[str, Any], sentence: str
) -> None:
    answer = admin.post(f"{LIST}add/", typed(**given))

    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not Webhook.objects.exists()


def test_an_older_page_does_not_undo_a_newer_change(admin: Client) -> None:
    row = make.webhook()
    shown = pages.fields(admin.get(page_of(row)))
    admin.post(page_of(row), {**shown, "name": "First"})

    answer = admin.post(page_of(row), {**shown, "name": "Second"})

    assert answer.status_code == 422
    assert "changed since you opened it" in answer.content.decode()
    row.refresh_from_db()
    assert row.name == "First"


def test_no_page_shows_what_is_secret(admin: Client) -> None:
    """Threat 41: neither a page nor a form with errors shows a secret or the value of a header."""
    row = make.webhook(headers={"Authorization": VALUE}, secret=SECRET)
    delivery = make.delivery(make.event(), row)
    admin.post(
        page_of(row),
        typed(secret=f"{SECRET}-2", version=1, headers=f"Authorization: {SECRET_MASK}"),
    )

    answers = [
        admin.get(LIST),
        admin.get(page_of(row)),
        admin.post(page_of(row), typed(secret=SECRET, name="", version=2)),
        admin.get(f"{LIST}{row.pk}/delete/"),
        admin.get(DELIVERIES),
        admin.get(f"{DELIVERIES}{delivery.pk}/change/"),
        admin.get("/admin/"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 422, 200, 200, 200, 200]
    for answer in answers:
        assert "canary" not in answer.content.decode()
    assert f"Authorization: {SECRET_MASK}" in answers[1].content.decode()


def test_a_test_is_sent_and_shown(admin: Client) -> None:
    row = make.webhook(active=False)

    answer = admin.post(f"{LIST}{row.pk}/test/", follow=True)

    delivery = Delivery.objects.get()
    assert answer.redirect_chain == [(f"{DELIVERIES}{delivery.pk}/change/", 302)]
    page = answer.content.decode()
    assert "No calls yet. It is sent within seconds." in page
    assert "&quot;sampleOf&quot;: &quot;post.published&quot;" in page


def test_what_was_missed_is_sent_again_and_stopped(admin: Client) -> None:
    row = make.webhook()
    make.event()

    page = admin.post(f"{LIST}{row.pk}/replay/", {"since": "2020-01-01T00:00"}, follow=True)
    assert "Resending events: 1 left to queue." in page.content.decode()

    page = admin.post(f"{LIST}{row.pk}/replay/cancel/", follow=True)
    assert "Resend events since" in page.content.decode()
    page = admin.post(f"{LIST}{row.pk}/replay/", {"since": "soon"}, follow=True)
    assert "Enter a start date and time" in page.content.decode()
    row.refresh_from_db()
    assert row.replay_until is None


def test_a_webhook_is_deleted_after_a_question(admin: Client) -> None:
    row = make.webhook()
    make.delivery(make.event(), row)

    asked = admin.get(f"{LIST}{row.pk}/delete/")
    assert b"Its deliveries are deleted as well." in asked.content
    admin.post(f"{LIST}{row.pk}/delete/")

    assert (Webhook.objects.count(), Delivery.objects.count()) == (0, 0)


def test_the_picture_of_the_last_calls_has_words(admin: Client) -> None:
    row = make.webhook()
    for number in range(3):
        status, code = ("failed", 500) if number == 0 else ("succeeded", 200)
        make.delivery(make.event(), row, status=status, code=code)

    page = admin.get(page_of(row)).content.decode()

    assert 'role="img"' in page
    assert 'aria-label="2 of the last 3 calls succeeded."' in page
    assert (page.count('class="c-accept"'), page.count('class="c-reject"')) == (2, 1)
    assert "style=" not in page.partition("<main")[2].partition("</main>")[0]


@pytest.mark.parametrize("role", ["editor", "translator"])
def test_only_who_manages_webhooks_comes_in(signed_in: SignedIn, role: str) -> None:
    row = make.webhook()
    delivery = make.delivery(make.event(), row)
    client = signed_in(role)
    paths = [LIST, f"{LIST}add/", page_of(row), DELIVERIES, f"{DELIVERIES}{delivery.pk}/change/"]
    acts = ["test/", "replay/", "replay/cancel/", "delete/"]

    for path in paths:
        refused = client.get(path)
        assert (refused.status_code, b"You do not have access" in refused.content) == (403, True)
    for path in [*(f"{LIST}{row.pk}/{act}" for act in acts), page_of(row), f"{LIST}add/"]:
        assert client.post(path, typed(since="2020-01-01T00:00")).status_code == 403
    assert client.post(f"{DELIVERIES}{delivery.pk}/replay/").status_code == 403

    assert Webhook.objects.get().version == 1
    assert Delivery.objects.get().status == "failed"


def test_the_page_of_a_delivery_shows_its_calls(admin: Client) -> None:
    row = make.delivery(make.event(title="<b>Tea</b>"), make.webhook())
    row.tries.create(number=2, at=timezone.now(), ms=7, status_code=None, error="Timed out.")

    page = admin.get(f"{DELIVERIES}{row.pk}/change/").content.decode()

    assert "&lt;b&gt;Tea&lt;/b&gt;" in page
    assert "<b>Tea" not in page
    for words in ("Post published", "The answer was 500.", "12 ms", "Timed out.", "what came back"):
        assert words in page
    assert "server: receiver" in page

    again = admin.post(f"{DELIVERIES}{row.pk}/replay/", follow=True).content.decode()
    assert "Sending again." in again
    row.refresh_from_db()
    assert (row.status, row.attempts) == ("pending", 0)
    again = admin.post(f"{DELIVERIES}{row.pk}/replay/", follow=True).content.decode()
    assert "not finished yet" in again


def test_a_delivery_says_for_which_one_of_its_post_it_waits(admin: Client) -> None:
    post = make.post()
    hook = make.webhook()
    first = make.delivery(make.event(id=str(post.pk)), hook, status="pending")
    second = make.delivery(make.event(id=str(post.pk)), hook, status="pending")
    Delivery.objects.update(post_id=post.pk)
    second.tries.all().delete()

    page = admin.get(f"{DELIVERIES}{second.pk}/change/").content.decode()

    assert f'<dt>Waiting for</dt><dd><a href="{DELIVERIES}{first.pk}/change/">' in page
    assert "No calls yet.</p>" in page
    assert "Next attempt" not in page
    assert "Waiting for" not in admin.get(f"{DELIVERIES}{first.pk}/change/").content.decode()


def test_deliveries_are_filtered(admin: Client) -> None:
    one, two = make.webhook("One"), make.webhook("Two")
    event = make.event()
    make.delivery(event, one)
    make.delivery(event, two, status="succeeded", code=200)
    Delivery.objects.create(lane="chat", event=event, event_name="post.deleted")

    def listed(query: str) -> int:
        page = admin.get(f"{DELIVERIES}?{query}")
        assert page.status_code == 200
        return page.content.decode().count('class="field-to')

    today = timezone.now().date()
    assert listed("") == 3
    assert listed("status__exact=failed") == 1
    assert listed(f"webhook__id__exact={one.pk}") == 1
    assert listed("receiver=chat") == 1
    assert listed("receiver=webhook") == 2
    assert listed("event_name=post.deleted") == 1
    assert (
        listed(
            f"created_at__gte={today} 00:00:00Z&created_at__lt={today + timedelta(days=1)} 00:00:00Z"
        )
        == 3
    )
    assert listed(f"created_at__lt={today} 00:00:00Z") == 0


def test_lists_take_as_many_queries_for_many_rows(admin: Client) -> None:
    counts: list[list[int]] = []
    for number in (1, 30):
        for place in range(number):
            make.delivery(make.event(), make.webhook(f"Hook {number}-{place}"))
        found = []
        for path in (LIST, DELIVERIES, "/admin/"):
            found.append(page_queries(admin, path))
        counts.append(found)

    assert counts[0] == counts[1]


def test_the_home_page_tells_of_calls_that_failed(
    admin: Client,
    signed_in: SignedIn,
) -> None:
    assert "Calls that failed" not in admin.get("/admin/").content.decode()
    old, row = make.webhook("Old"), make.webhook("New")
    make.delivery(make.event(), row)
    make.delivery(make.event("post.deleted"), row, status="succeeded", code=200)
    make.delivery(make.event("post.updated"), row)
    Delivery.objects.filter(event_name="post.updated").update(
        finished_at=timezone.now() - timedelta(days=2)
    )
    Webhook.objects.filter(pk=old.pk).update(
        is_active=False, disabled_at=timezone.now(), disabled_reason="No call succeeded for a day."
    )

    page = admin.get("/admin/").content.decode()

    card = page.partition('aria-labelledby="home-calls"')[2].partition("</section>")[0]
    assert '<span class="count">1</span>' in card
    assert "Post published" in card
    assert "Post moved to the trash" not in card
    assert "Post updated" not in card
    assert "No call succeeded for a day." in card

    Delivery.objects.all().delete()
    page = admin.get("/admin/").content.decode()
    card = page.partition('aria-labelledby="home-calls"')[2].partition("</section>")[0]
    assert "No call succeeded for a day." in card
    assert 'class="count"' not in card
    assert "Calls that failed" not in signed_in("editor").get("/admin/").content.decode()
