"""Erased data is not sent any more, and receivers' answers about it are deleted."""

from __future__ import annotations

import pytest

from forms.models import FormSubmission
from forms.services.submissions import delete_submission
from proofroom.core import outbox
from proofroom.core.errors import Conflict
from proofroom.webhooks import delivery, delivery_queue
from proofroom.webhooks.delivery_channels import NothingToSend, build_request
from proofroom.webhooks.dispatch import channel_of, queue_for_webhooks
from proofroom.webhooks.http_calls import Call, CallThread
from proofroom.webhooks.models import Attempt, Delivery
from proofroom.webhooks.retention import FORGOTTEN
from proofroom.webhooks.services import replay
from proofroom.webhooks.services.replay import replay_delivery, replay_since
from tests import make
from tests.receiver import Receiver, Reply, Trick
from tests.webhooks import sending

pytestmark = pytest.mark.django_db
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
