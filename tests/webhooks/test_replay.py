"""Repeating one delivery, or all since a time, including events while the webhook was off."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.independent_steps import StepsFailed
from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.services import replay
from proofroom.webhooks.services.replay import cancel_replay, replay_delivery, replay_since
from proofroom.webhooks.tasks import sweep_deliveries
from tests import make
from tests.receiver import Receiver, Reply
from tests.webhooks import sending

pytestmark = pytest.mark.django_db


def _since(webhook: Webhook, **ago: float) -> Webhook:
    return replay_since(
        webhook_id=webhook.pk,
        since=timezone.now() - timedelta(**ago or {"hours": 1}),
        actor=make.actor("admin"),
    )


def _go_on() -> int:
    queued = replay.queue_replays()
    sending.send()
    return queued


@pytest.mark.parametrize("status", [200, 410])
def test_a_finished_delivery_goes_out_again_under_its_id(receiver: Receiver, status: int) -> None:
    webhook = sending.webhook(receiver)
    receiver.say("/hook", Reply(status), Reply(200))
    event = sending.happened()
    sending.send()
    before = sending.delivery_of(event)

    told = replay_delivery(delivery_id=before.pk, actor=make.actor("admin"))
    assert (told.pk, told.status, told.attempts) == (before.pk, "pending", 0)
    sending.send()

    first, second = receiver.at("/hook")
    assert first.body == second.body
    assert first.headers["x-webhook-delivery"] == second.headers["x-webhook-delivery"]
    assert sending.state_of(event) == ("succeeded", 1, 200, "")
    assert [(row.number, row.status_code) for row in sending.attempts_of(event)] == [
        (1, status),
        (2, 200),
    ]
    recorded = Event.objects.get(name="webhook.replayed")
    assert recorded.payload == {
        "deliveryId": str(before.pk),
        "event": "post.updated",
        "webhookId": str(webhook.pk),
    }


def test_one_under_way_is_not_replayed(receiver: Receiver) -> None:
    sending.webhook(receiver)
    event = sending.happened()

    with pytest.raises(Conflict) as refused:
        replay_delivery(delivery_id=sending.delivery_of(event).pk, actor=make.actor("admin"))

    assert refused.value.code == "delivery_unfinished"
    assert not Event.objects.filter(name="webhook.replayed").exists()


def test_one_that_waits_for_its_next_try_goes_out_now(receiver: Receiver) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(500), Reply(200))
    event = sending.happened()
    sending.send()
    waiting = sending.delivery_of(event)
    assert (waiting.status, waiting.attempts) == ("pending", 1)
    sending.send()
    assert len(receiver.at("/hook")) == 1

    told = replay_delivery(delivery_id=waiting.pk, actor=make.actor("admin"))
    sending.send()

    assert told.attempts == 1
    assert sending.state_of(event) == ("succeeded", 2, 200, "")


@pytest.mark.parametrize("role", ["editor", "translator", "ai_agent"])
def test_only_who_manages_webhooks_replays(receiver: Receiver, role: str) -> None:
    webhook = sending.webhook(receiver)
    event = sending.happened()
    sending.send()
    actor = make.actor(role)

    for ask in (
        lambda: replay_delivery(delivery_id=sending.delivery_of(event).pk, actor=actor),
        lambda: replay_since(webhook_id=webhook.pk, since=event.created_at, actor=actor),
        lambda: cancel_replay(webhook_id=webhook.pk, actor=actor),
    ):
        with pytest.raises(NotAllowed):
            ask()

    webhook.refresh_from_db()
    assert (webhook.replay_until, sending.delivery_of(event).status) == (None, "succeeded")


@pytest.mark.parametrize("id_", ["00000000-0000-4000-8000-000000000000", "x", "\x00", ""])
def test_what_is_not_there_is_not_found(id_: str) -> None:
    actor = make.actor("admin")
    for ask in (
        lambda: replay_delivery(delivery_id=id_, actor=actor),
        lambda: replay_since(webhook_id=id_, since=timezone.now(), actor=actor),
        lambda: cancel_replay(webhook_id=id_, actor=actor),
    ):
        with pytest.raises(NotFound):
            ask()


@pytest.mark.parametrize(
    "since",
    [datetime(2026, 1, 1), timezone.now() + timedelta(days=400)],  # noqa: DTZ001  # that is the point
    ids=["no-zone", "future"],
)
def test_a_time_that_is_none_is_refused(receiver: Receiver, since: datetime) -> None:
    webhook = sending.webhook(receiver)

    with pytest.raises(RuleViolation) as refused:
        replay_since(webhook_id=webhook.pk, since=since, actor=make.actor("admin"))

    assert list(refused.value.details) == ["since"]


def test_all_since_a_time_with_what_happened_while_it_was_off(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver, events=["post.updated"], locales=["en"])
    early = sending.happened(place=0)
    Event.objects.filter(pk=early.pk).update(created_at=timezone.now() - timedelta(hours=2))
    known = sending.happened(place=1)
    sending.send()
    Webhook.objects.update(is_active=False)
    missed = sending.happened(place=2)
    sending.happened(place=3, locale="de")
    sending.happened("post.created", place=4)
    Webhook.objects.update(is_active=True)

    _since(webhook)
    assert _go_on() == 2

    places = [seen.json()["data"]["place"] for seen in receiver.at("/hook")]
    assert sorted(places) == [0, 1, 1, 2]
    assert [sending.state_of(event)[:2] for event in (known, missed)] == [("succeeded", 1)] * 2
    webhook.refresh_from_db()
    assert (webhook.replay_after, webhook.replay_until) == (None, None)


def test_a_long_replay_goes_on_in_batches(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "BATCH_SIZE", 10)
    monkeypatch.setattr(replay, "MAX_BATCHES", 1)
    webhook = sending.webhook(receiver)
    post = uuid4()
    for place in range(25):
        sending.happened(post=post, told=False, place=place)

    row = _since(webhook)
    lefts = [row.replay_left]
    while row.replay_until is not None:
        _go_on()
        row.refresh_from_db()
        lefts.append(row.replay_left)

    assert lefts == [25, 15, 5, 0]
    assert [seen.json()["data"]["place"] for seen in receiver.at("/hook")] == list(range(25))


def test_the_sweep_takes_up_a_replay_that_was_left(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    sending.happened(told=False)
    _since(webhook)

    sweep_deliveries()

    assert Delivery.objects.filter(status="pending").count() == 1
    assert sending.send() == 1


def test_deliveries_under_way_keep_their_attempts(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    receiver.say("/hook", Reply(500))
    event = sending.happened()
    sending.send()

    _since(webhook)

    assert replay.queue_replays() == 0
    assert sending.state_of(event)[:2] == ("pending", 1)


def test_a_replay_can_be_cancelled(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    sending.happened(told=False)
    _since(webhook)
    with pytest.raises(Conflict):
        _since(webhook)

    row = cancel_replay(webhook_id=webhook.pk, actor=make.actor("admin"))

    assert (row.replay_after, row.replay_until) == (None, None)
    assert _go_on() == 0
    recorded = [event.payload for event in Event.objects.filter(name="webhook.replayed")]
    assert recorded[1] == {"webhookId": str(webhook.pk), "cancelled": True}
    assert len(recorded) == 2


def test_a_time_without_events_replays_nothing(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)

    row = _since(webhook)

    assert (row.replay_until, replay.queue_replays()) == (None, 0)


def test_a_replay_that_fails_stops_no_other(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = sending.webhook(receiver, "/broken"), sending.webhook(receiver, "/other")
    Webhook.objects.update(is_active=False)
    event = sending.happened()
    Webhook.objects.update(is_active=True)
    for webhook in (broken, other):
        _since(webhook)
    wants = vars(replay)["webhook_wants"]

    def failing(webhook: Webhook, event: Event) -> bool:
        if webhook.pk == broken.pk:
            raise ZeroDivisionError
        return bool(wants(webhook, event))

    monkeypatch.setattr(replay, "webhook_wants", failing)

    with pytest.raises(StepsFailed):
        sweep_deliveries()
    sending.send()

    assert [(row.event_id, row.webhook_id) for row in Delivery.objects.all()] == [
        (event.pk, other.pk)
    ]
    assert len(receiver.at("/other")) == 1
    assert list(Webhook.objects.filter(replay_until__isnull=False)) == [broken]
