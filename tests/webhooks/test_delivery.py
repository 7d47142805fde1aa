"""Events reach their subscribers once, with the documented body and headers."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import UTC, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proofroom.core.database.compiled_queries import BoundUpdate
from proofroom.core.models import Event
from proofroom.core.tasks import dispatch_event, dispatch_events
from proofroom.webhooks import delivery, http_calls
from proofroom.webhooks.dispatch import queue_for_webhooks
from proofroom.webhooks.models import Attempt, Delivery, DeliveryStatus
from proofroom.webhooks.tasks import send_deliveries, sweep_deliveries
from tests import make
from tests.conftest import RunOnCommit
from tests.queries import count_queries
from tests.receiver import Receiver, Reply
from tests.webhooks import sending

pytestmark = pytest.mark.django_db


def test_a_change_of_a_post_reaches_the_receiver_by_itself(
    receiver: Receiver, run_on_commit: RunOnCommit
) -> None:
    sending.webhook(receiver, events=["post.published"])

    with run_on_commit():
        post = make.post("Green tea")

    [seen] = receiver.at("/hook")
    body = seen.json()
    assert body["event"] == "post.published"
    assert (body["data"]["id"], body["data"]["title"]) == (str(post.pk), "Green tea")
    [row] = Delivery.objects.all()
    assert (row.status, row.attempts, row.last_status_code) == ("succeeded", 1, 200)
    assert (row.next_attempt_at, row.claimed_until) == (None, None)


def test_the_body_names_the_event_and_is_signed(receiver: Receiver) -> None:
    sending.webhook(receiver, headers={"X-Team": "editors"})
    event = sending.happened("post.updated", title="Öl – 世界")

    assert sending.send() == 1

    [seen] = receiver.at("/hook")
    at = event.created_at.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
    assert seen.json() == {
        "id": str(event.uid),
        "event": "post.updated",
        "createdAt": at,
        "data": event.payload,
    }
    assert list(json.loads(seen.body)) == ["createdAt", "data", "event", "id"]
    signed = hmac.new(sending.SECRET.encode(), seen.body, hashlib.sha256).hexdigest()
    row = sending.delivery_of(event)
    [attempt] = sending.attempts_of(event)
    assert {name: seen.headers.get(name) for name in _NAMES} == {
        "content-type": "application/json",
        "x-hub-signature-256": f"sha256={signed}",
        "x-hub-signature-256-previous": None,
        "x-webhook-event": "post.updated",
        "x-webhook-delivery": str(row.pk),
        "x-webhook-timestamp": str(int(attempt.at.timestamp())),
        "x-webhook-version": "1",
        "x-team": "editors",
    }


_NAMES = (
    "content-type",
    "x-hub-signature-256",
    "x-hub-signature-256-previous",
    "x-webhook-event",
    "x-webhook-delivery",
    "x-webhook-timestamp",
    "x-webhook-version",
    "x-team",
)


def test_an_attempt_is_stored_with_its_response(receiver: Receiver) -> None:
    sending.webhook(receiver)
    event = sending.happened()

    sending.send()

    [attempt] = sending.attempts_of(event)
    assert (attempt.number, attempt.status_code, attempt.error) == (1, 200, "")
    assert attempt.response_body == "ok"
    assert attempt.response_headers == {"content-length": "2"}
    assert attempt.request_headers["X-Webhook-Event"] == "post.updated"
    assert sending.delivery_of(event).finished_at is not None


def test_fifty_events_take_as_many_statements_as_one(receiver: Receiver) -> None:
    sending.webhook(receiver)
    one, *events = [sending.happened(told=False) for _ in range(51)]
    # Independent of the machine's speed, none of them has waited long.
    Event.objects.update(created_at=timezone.now() + timedelta(hours=1))

    of_one = count_queries(dispatch_event, one.pk, str(one.post_id))
    of_fifty = count_queries(dispatch_events, [], [str(event.post_id) for event in events])

    # The events, whether visitors saw their posts, whether comments quote them, what they embed, the webhooks, and
    # the deliveries with the receipts, which SQLite fetches separately; plus a savepoint of the test.
    assert of_one == of_fifty == (8 if connection.vendor == "postgresql" else 9)
    assert Delivery.objects.count() == 51


def test_one_event_for_many_webhooks_takes_as_many_statements(receiver: Receiver) -> None:
    for number in range(20):
        sending.webhook(receiver, f"/{number}")
    event = sending.happened(told=False)

    assert count_queries(dispatch_event, event.pk, str(event.post_id)) == (
        8 if connection.vendor == "postgresql" else 9
    )
    assert Delivery.objects.count() == 20


def test_one_delivery_takes_eight_statements_from_the_message_to_the_lock_that_is_free(
    receiver: Receiver,
) -> None:
    sending.webhook(receiver)
    sending.happened()
    assert sending.send() == 1, "the first one makes the row of the lock"
    sending.happened()

    with CaptureQueriesContext(connection) as sent:
        assert sending.send() == 1

    # Channels with work, the lock; the claim read and stored; its outcome checked and stored; the
    # lock released, and a check for new work. Without the test's savepoints around claim and
    # outcome.
    statements = [query["sql"] for query in sent if "SAVEPOINT" not in query["sql"]]
    assert len(statements) == (8 if connection.vendor == "postgresql" else 9)


@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_the_sender_is_woken_whenever_another_one_may_have_missed_the_event(
    receiver: Receiver, when: str, run_on_commit: RunOnCommit
) -> None:
    """`when`: the check at which another process sends, and no longer at the commit."""
    from uuid import uuid4

    from proofroom.webhooks import delivery_queue

    sending.webhook(receiver)
    other = uuid4()
    event = sending.happened(told=False)
    connection.run_on_commit.clear()

    with run_on_commit():
        if when == "before":
            assert delivery_queue.acquire_lock(other)
        queue_for_webhooks([event])
        if when == "between":
            assert delivery_queue.acquire_lock(other)
        delivery_queue.release_lock(other)

    assert sending.delivery_of(event).status == DeliveryStatus.SUCCEEDED


def test_the_lock_is_given_back_early_only_where_nothing_is_left(receiver: Receiver) -> None:
    from uuid import uuid4

    from proofroom.webhooks import delivery_queue

    sending.webhook(receiver)
    event = sending.happened()
    holder = uuid4()
    assert delivery_queue.acquire_lock(holder)

    assert not delivery_queue.release_lock_if_done(holder)
    assert delivery_queue.is_locked()
    Delivery.objects.filter(event=event).update(next_attempt_at=None)
    assert not delivery_queue.release_lock_if_done(uuid4()), "another one has it"
    assert delivery_queue.release_lock_if_done(holder)
    assert not delivery_queue.is_locked()


def test_nobody_is_notified_twice(receiver: Receiver) -> None:
    sending.webhook(receiver)
    event = sending.happened()
    queue_for_webhooks([event])

    assert (sending.send(), sending.send()) == (1, 0)
    queue_for_webhooks([event])
    assert sending.send() == 0

    assert len(receiver.at("/hook")) == 1


@pytest.mark.parametrize(
    ("fields", "payload", "is_told"),
    [
        ({"events": ["post.created"]}, {}, False),
        ({"types": ["page"]}, {}, False),
        ({"types": ["page", "blog"]}, {}, True),
        ({"locales": ["de"]}, {}, False),
        ({"locales": ["de"]}, {"locale": "de"}, True),
        ({"types": ["blog"], "locales": ["de"]}, {}, False),
        ({"is_active": False}, {}, False),
    ],
    ids=["event", "type", "one-of-types", "locale", "its-locale", "both", "off"],
)
def test_only_chosen_events_are_sent(
    receiver: Receiver, fields: dict[str, Any], payload: dict[str, Any], is_told: bool
) -> None:
    sending.webhook(receiver, **fields)

    sending.happened("post.updated", **payload)

    assert Delivery.objects.count() == int(is_told)


def test_filters_of_posts_leave_out_no_submission(receiver: Receiver) -> None:
    sending.webhook(receiver, types=["page"], locales=["de"])

    event = sending.submitted(email="a@example.com")

    assert sending.send() == 1
    assert receiver.at("/hook")[0].json()["data"] == event.payload


def test_no_other_events_are_sent(receiver: Receiver, run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        post = make.post("Tea")
    sending.webhook(receiver)

    with run_on_commit():
        make.staged(post, {"title": "Proposed"})

    assert Delivery.objects.count() == 0
    assert receiver.requests == []


def test_the_sweep_sends_what_a_lost_message_left(
    receiver: Receiver, run_on_commit: RunOnCommit
) -> None:
    sending.webhook(receiver)
    event = sending.happened()
    connection.run_on_commit.clear()  # the message is lost

    with run_on_commit():
        assert sweep_deliveries() == 1

    assert sending.state_of(event) == ("succeeded", 1, 200, "")
    assert sweep_deliveries() == 0


def test_a_second_sender_leaves_at_once(receiver: Receiver) -> None:
    from uuid import uuid4

    from proofroom.webhooks import delivery_queue

    sending.webhook(receiver)
    event = sending.happened()
    other = uuid4()
    assert delivery_queue.acquire_lock(other)

    assert send_deliveries() == 0
    assert sweep_deliveries() == 0
    assert sending.delivery_of(event).status == DeliveryStatus.PENDING

    delivery_queue.release_lock(other)
    assert send_deliveries() == 1


def test_a_lease_from_before_the_clock_was_set_back_holds_up_nobody(receiver: Receiver) -> None:
    from uuid import uuid4

    from proofroom.webhooks import delivery_queue
    from proofroom.webhooks.models import SenderLease

    sending.webhook(receiver)
    sending.happened()
    assert delivery_queue.acquire_lock(uuid4())
    SenderLease.objects.update(until=timezone.now() + timedelta(hours=1))

    assert not delivery_queue.is_locked()
    assert send_deliveries() == 1


def test_a_lease_that_ran_out_is_taken(receiver: Receiver) -> None:
    from uuid import uuid4

    from proofroom.webhooks import delivery_queue
    from proofroom.webhooks.models import SenderLease

    sending.webhook(receiver)
    sending.happened()
    gone = uuid4()
    assert delivery_queue.acquire_lock(gone)
    SenderLease.objects.update(until=timezone.now() - timedelta(seconds=1))

    assert send_deliveries() == 1
    assert not delivery_queue.renew_lock(gone)
    assert not delivery_queue.is_locked()


def test_old_deliveries_are_pruned_with_their_attempts(receiver: Receiver) -> None:
    from proofroom.webhooks.tasks import prune_deliveries

    sending.webhook(receiver)
    old, fresh, waiting = (sending.happened() for _ in range(3))
    Delivery.objects.filter(event=waiting).update(
        next_attempt_at=timezone.now() + timedelta(hours=1)
    )
    sending.send()
    long_ago = timezone.now() - timedelta(days=31)
    Delivery.objects.exclude(event=fresh).update(created_at=long_ago)
    Delivery.objects.filter(event=old).update(finished_at=long_ago)

    assert prune_deliveries() == 1

    assert set(Delivery.objects.values_list("event", flat=True)) == {fresh.pk, waiting.pk}
    assert Attempt.objects.count() == 1


def test_after_a_minute_the_work_goes_to_a_new_message(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proofroom.webhooks import delivery, delivery_queue

    sending.webhook(receiver)
    sending.happened()

    with monkeypatch.context() as patch:
        patch.setattr(delivery, "WORK_SECONDS", 0.0)
        assert delivery.send_due() == (0, True)

    assert not delivery_queue.is_locked()
    assert sending.send() == 1


def test_an_outcome_that_cannot_be_stored_keeps_no_other_one(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ("/broken", "/refused", "/other")
    broken, refused, other = (sending.webhook(receiver, path) for path in paths)
    receiver.say("/refused", Reply(500))
    sending.happened()
    insert_rows = vars(delivery)["insert_rows"]

    def failing(rows: Sequence[Attempt], updates: Sequence[BoundUpdate]) -> None:
        if any(row.delivery.webhook_id == broken.pk for row in rows):
            raise ZeroDivisionError
        insert_rows(rows, updates=updates)

    monkeypatch.setattr(delivery, "insert_rows", failing)

    assert sending.send() == 3
    assert sending.send() == 0

    states = {row.webhook_id: (row.status, row.last_error) for row in Delivery.objects.all()}
    assert states == {
        broken.pk: ("failed", "The outcome of the call could not be stored; the log says why."),
        refused.pk: ("pending", "The address answered 500."),
        other.pk: ("succeeded", ""),
    }
    assert [len(receiver.at(path)) for path in paths] == [1, 1, 1]


@pytest.mark.parametrize("broken_part", ["request_headers", "measure"])
def test_a_call_that_fails_here_keeps_no_other_one(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, broken_part: str
) -> None:
    broken = sending.webhook(receiver, "/broken")
    other = sending.webhook(receiver, "/other")
    sending.happened()
    part = vars(http_calls)[broken_part]
    calls: list[object] = []

    def failing(*given: object) -> object:
        calls.append(given)
        if len(calls) == 1:
            raise ZeroDivisionError
        return part(*given)

    monkeypatch.setattr(http_calls, broken_part, failing)

    assert sending.send() == 2

    states = sorted((row.status, row.last_error) for row in Delivery.objects.all())
    assert states == [
        ("pending", "The call failed here; the log says more."),
        ("succeeded", ""),
    ]
    assert sum(len(receiver.at(path)) for path in ("/broken", "/other")) == 1
    assert {row.webhook_id for row in Delivery.objects.all()} == {broken.pk, other.pk}
