"""An address that failed for a day is disabled; deliveries of a manually disabled one wait."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from forms.models import FormSubmission
from forms.services.submissions import delete_submission
from proofroom.core import outbox
from proofroom.core.errors import Conflict
from proofroom.core.models import Event
from proofroom.webhooks import delivery, delivery_queue
from proofroom.webhooks.delivery_channels import NothingToSend, build_request
from proofroom.webhooks.dispatch import channel_of, queue_for_webhooks
from proofroom.webhooks.http_calls import Call, CallThread
from proofroom.webhooks.models import Attempt, Delivery, Webhook
from proofroom.webhooks.models.webhook import WebhookChanges
from proofroom.webhooks.retention import FORGOTTEN
from proofroom.webhooks.services import replay, test_calls
from proofroom.webhooks.services.replay import replay_delivery, replay_since
from proofroom.webhooks.services.webhooks import update_webhook
from tests import make
from tests.receiver import Receiver, Reply, Trick
from tests.webhooks import sending

pytestmark = pytest.mark.django_db

A_DAY = timedelta(hours=24)


def _failed_for(webhook: Webhook, time: timedelta) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(failing_since=timezone.now() - time)


def _disabled() -> list[Event]:
    return list(Event.objects.filter(name="webhook.disabled"))


def test_the_first_failure_after_a_success_is_remembered(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    receiver.say("/hook", Reply(200), Reply(500), Reply(404), Reply(200))

    since = []
    for _ in range(4):
        sending.happened()
        sending.send()
        webhook.refresh_from_db()
        since.append(webhook.failing_since)

    assert since[0] is None
    assert since[1] is not None
    assert since[2] == since[1]
    assert since[3] is None
    assert webhook.is_active


@pytest.mark.parametrize("status", [500, 404])
def test_an_address_that_failed_for_a_day_is_switched_off(receiver: Receiver, status: int) -> None:
    webhook = sending.webhook(receiver, headers={"X-Key": "canary-of-a-header"})
    other = sending.webhook(receiver, "/other")
    _failed_for(webhook, A_DAY)
    receiver.say("/hook", Reply(status))
    sending.happened()

    sending.send()

    webhook.refresh_from_db()
    other.refresh_from_db()
    assert (webhook.is_active, webhook.version) == (False, 2)
    assert webhook.disabled_at is not None
    assert webhook.disabled_reason == (
        f"No call succeeded for a day. The last one: The address answered {status}."
    )
    [event] = _disabled()
    assert event.payload == {
        "id": str(webhook.pk),
        "name": "/hook",
        "host": "127.0.0.1",
        "reason": webhook.disabled_reason,
    }
    assert (event.actor_id, event.actor_name, event.via) == (None, "system", "system")
    assert (other.is_active, other.failing_since) == (True, None)


@pytest.mark.parametrize(("hours", "status"), [(23, 500), (25, 200)], ids=["not-yet", "it-is-back"])
def test_others_stay_on(receiver: Receiver, hours: int, status: int) -> None:
    webhook = sending.webhook(receiver)
    _failed_for(webhook, timedelta(hours=hours))
    receiver.say("/hook", Reply(status))
    sending.happened()

    sending.send()

    webhook.refresh_from_db()
    assert webhook.is_active
    assert _disabled() == []
    assert (webhook.failing_since is None) == (status == 200)


def test_what_waited_is_held_and_goes_out_when_it_is_on_again(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    _failed_for(webhook, A_DAY)
    receiver.say("/hook", Reply(500), Reply(200))
    event = sending.happened()
    sending.send()
    sending.make_due()

    assert sending.send() == 0
    missed = sending.happened()
    assert not Delivery.objects.filter(event=missed).exists()
    assert sending.state_of(event)[:2] == ("pending", 1)

    update_webhook(
        webhook_id=webhook.pk, actor=make.actor("admin"), changes=WebhookChanges(active=True)
    )

    assert sending.send() == 1
    assert sending.state_of(event) == ("succeeded", 2, 200, "")


def test_an_address_switched_on_again_has_another_day(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    _failed_for(webhook, A_DAY)
    receiver.say("/hook", Reply(500))
    sending.happened()
    sending.send()
    update_webhook(
        webhook_id=webhook.pk, actor=make.actor("admin"), changes=WebhookChanges(active=True)
    )
    sending.make_due()

    assert sending.send() == 1

    webhook.refresh_from_db()
    assert webhook.is_active
    assert len(_disabled()) == 1


def test_a_test_reaches_one_that_is_off_and_no_other(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver, events=["post.updated"], types=["page"], locales=["de"])
    sending.webhook(receiver, "/other")
    held = sending.happened(type="page", locale="de")
    Webhook.objects.filter(pk=webhook.pk).update(is_active=False)
    Delivery.objects.exclude(webhook=webhook).delete()

    delivery = test_calls.test_webhook(webhook_id=webhook.pk, actor=make.actor("admin"))
    assert sending.send() == 1

    [seen] = receiver.requests
    assert seen.path == "/hook"
    assert seen.headers["x-webhook-event"] == "webhook.test"
    assert seen.headers["x-webhook-delivery"] == str(delivery.pk)
    nobody = "00000000-0000-0000-0000-000000000000"
    assert seen.json()["data"] == {
        "id": nobody,
        "type": "page",
        "locale": "de",
        "slug": "test",
        "title": "This is a test",
        "status": "published",
        "url": "/test",
        "changedPaths": ["post.title"],
        "webhookId": str(webhook.pk),
        "sampleOf": "post.updated",
    }
    delivery.refresh_from_db()
    assert delivery.status == "succeeded"
    assert sending.state_of(held)[:2] == ("pending", 0)


def test_a_test_of_forms_looks_like_a_submission(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver, events=["form.submitted"])

    test_calls.test_webhook(webhook_id=webhook.pk, actor=make.actor("admin"))
    sending.send()

    [seen] = receiver.requests
    assert set(seen.json()["data"]) == {
        "formSlug",
        "submissionId",
        "payload",
        "webhookId",
        "sampleOf",
    }


def test_one_deleted_while_it_is_called_leaves_nothing(receiver: Receiver) -> None:
    from proofroom.webhooks import delivery, delivery_queue
    from proofroom.webhooks.delivery_channels import build_request
    from proofroom.webhooks.dispatch import channel_of
    from proofroom.webhooks.http_calls import Call, CallThread
    from proofroom.webhooks.services.webhooks import delete_webhook

    webhook = sending.webhook(receiver)
    sending.happened()
    [row] = delivery_queue.claim_deliveries({channel_of(webhook): 8})[channel_of(webhook)]
    with CallThread() as wire:
        wire.send([Call(row, build_request(row))])
        ended = wire.ended(10)
    delete_webhook(webhook_id=webhook.pk, actor=make.actor("admin"))

    delivery.store_outcomes(ended)

    assert len(ended) == 1
    assert Delivery.objects.count() == 0


WORDS = "canary@example.com"


def test_a_deleted_submission_is_not_sent(receiver: Receiver) -> None:
    sending.webhook(receiver)
    make.form("contact")
    row = make.submission("contact", email=WORDS, message="Hello")
    for event_id in row.event_ids:
        outbox.dispatch(event_id)
    assert Delivery.objects.filter(status="pending").count() == 1

    delete_submission(slug="contact", submission_id=row.pk, actor=make.actor("admin"))

    assert not FormSubmission.objects.exists()
    assert sending.send() == 0
    assert receiver.requests == []
    [delivery] = Delivery.objects.all()
    assert (delivery.status, delivery.last_error) == ("cancelled", FORGOTTEN)
    assert delivery.next_attempt_at is None


def test_what_receivers_said_of_it_is_emptied(receiver: Receiver) -> None:
    sending.webhook(receiver)
    receiver.say("/hook", Reply(500, body=WORDS.encode(), headers={"X-Echo": WORDS}))
    gone, kept = sending.submitted(email=WORDS), sending.submitted(email=WORDS)
    sending.send()

    outbox.forget([gone.pk])

    [attempt] = sending.attempts_of(gone)
    assert (attempt.response_body, attempt.response_headers) == ("", {})
    assert (attempt.number, attempt.status_code) == (1, 500)
    assert sending.attempts_of(kept)[0].response_body == WORDS
    assert sending.state_of(gone)[0] == "cancelled"
    assert sending.state_of(kept)[0] == "pending"


def test_forgotten_while_it_is_called_keeps_nothing_of_the_answer(receiver: Receiver) -> None:
    lane = channel_of(sending.webhook(receiver))
    receiver.say("/hook", Reply(trick=Trick.ECHO))
    event = sending.submitted(email=WORDS)
    [row] = delivery_queue.claim_deliveries({lane: 8})[lane]
    with CallThread() as wire:
        wire.send([Call(row, build_request(row))])
        ended = wire.ended(10)

    outbox.forget([event.pk])
    delivery.store_outcomes(ended)

    assert len(ended) == 1
    assert sending.state_of(event) == ("cancelled", 1, None, FORGOTTEN)
    assert Attempt.objects.count() == 0


def test_a_sender_that_took_it_before_does_not_send_it(receiver: Receiver) -> None:
    lane = channel_of(sending.webhook(receiver))
    event = sending.submitted(email=WORDS)
    outbox.forget([event.pk])
    Delivery.objects.update(status="pending", next_attempt_at=event.created_at)

    [row] = delivery_queue.claim_deliveries({lane: 8})[lane]

    with pytest.raises(NothingToSend):
        build_request(row)


def test_it_is_neither_replayed_nor_queued_anew(receiver: Receiver) -> None:
    webhook = sending.webhook(receiver)
    event = sending.submitted(email=WORDS)
    sending.send()
    outbox.forget([event.pk])
    event.refresh_from_db()
    assert sending.state_of(event)[0] == "succeeded"

    with pytest.raises(Conflict) as refused:
        replay_delivery(delivery_id=sending.delivery_of(event).pk, actor=make.actor("admin"))
    assert refused.value.code == "event_forgotten"
    replay_since(webhook_id=webhook.pk, since=event.created_at, actor=make.actor("admin"))
    assert replay.queue_replays() == 0

    Delivery.objects.all().delete()
    queue_for_webhooks([event])
    assert Delivery.objects.count() == 0
