"""An address that failed for a day is disabled; deliveries of a manually disabled one wait."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.models.webhook import WebhookChanges
from proofroom.webhooks.services import test_calls
from proofroom.webhooks.services.webhooks import update_webhook
from tests import make
from tests.receiver import Receiver, Reply
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
