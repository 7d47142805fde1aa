"""Deliveries in the admin: one list for all receivers, a page for each, and failures on the home page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proofroom.webhooks.models import Delivery, Webhook
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/proofroom_webhooks/webhook/"
DELIVERIES = "/admin/proofroom_webhooks/delivery/"


@pytest.fixture
def admin(signed_in: SignedIn) -> Client:
    return signed_in("admin")


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
            with CaptureQueriesContext(connection) as caught:
                assert admin.get(path).status_code == 200
            found.append(len(caught))
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
