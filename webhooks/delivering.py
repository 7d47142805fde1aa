"""Deliveries come to be: one row for each event and receiver, in the transaction that notes who was told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from core.models import Event
from core.waking import after_commit
from webhooks.lease import is_held
from webhooks.models import Delivery, Webhook


def queue(
    event: Event,
    lane: str,
    *,
    webhook: Webhook | None = None,
    workflow_id: str = "",
    at: datetime | None = None,
) -> Delivery | None:
    """Have the lane told of the event, from `at` on. None where it was queued before."""
    made = new_delivery(event, lane, webhook=webhook, workflow_id=workflow_id, at=at)
    queue_all([made])
    return Delivery.objects.filter(pk=made.pk).first()


def queue_all(deliveries: Sequence[Delivery]) -> None:
    """Store those that are new to their lane, and wake the sender after the commit."""
    if deliveries:
        Delivery.objects.bulk_create(deliveries, ignore_conflicts=True, batch_size=500)
        wake_sender()


def new_delivery(
    event: Event,
    lane: str,
    *,
    webhook: Webhook | None = None,
    workflow_id: str = "",
    at: datetime | None = None,
) -> Delivery:
    """The row, not stored yet."""
    return Delivery(
        lane=lane,
        webhook=webhook,
        workflow_id=workflow_id,
        event=event,
        event_name=event.name,
        post_id=event.post_id,
        next_attempt_at=at or timezone.now(),
    )


def lane_of(webhook: Webhook) -> str:
    return f"webhook:{webhook.pk}"


def wake_sender() -> None:
    """After the commit. One that is at work looks again after it let go, so nobody has to tell it."""
    after_commit(_send, "deliveries", once=True)


def _send() -> None:
    from webhooks.tasks import send_deliveries

    if not is_held():
        send_deliveries.delay()
