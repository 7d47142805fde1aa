"""Dispatch of events: a delivery for each webhook that chose the event, stored with the note that it was handled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.webhooks.delivery_queue import is_locked
from proofroom.webhooks.models import Delivery, Webhook


def subscribe_webhooks() -> None:
    """Subscribe to the events that webhooks may choose. Called once, at start."""
    from proofroom.webhooks.retention import forget_events

    outbox.subscribe(
        [kind.name for kind in outbox.all_kinds() if kind.is_webhook],
        queue_for_webhooks,
        id="webhooks.subscribers.queue_for_webhooks",
    )
    outbox.events_forgotten.register(forget_events)


def queue_for_webhooks(event: Event) -> None:
    """Queue a delivery for every active webhook that wants the event."""
    if event.forgotten_at is not None:
        return
    webhooks = [row for row in Webhook.objects.filter(is_active=True) if wants(row, event)]
    queue_all([new_delivery(event, channel_of(row), webhook=row) for row in webhooks])


def wants(webhook: Webhook, event: Event) -> bool:
    """Return whether it chose such events. Filters by type and language leave out posts only."""
    if event.name not in webhook.events:
        return False
    filters = ((webhook.types, "type"), (webhook.locales, "locale"))
    return not event.name.startswith("post.") or all(
        not chosen or event.payload.get(key) in chosen for chosen, key in filters
    )


def channel_of(webhook: Webhook) -> str:
    return f"webhook:{webhook.pk}"


def new_delivery(
    event: Event,
    channel: str,
    *,
    webhook: Webhook | None = None,
    workflow_id: str = "",
    at: datetime | None = None,
) -> Delivery:
    """Make the row, not stored yet."""
    return Delivery(
        lane=channel,
        webhook=webhook,
        workflow_id=workflow_id,
        event=event,
        event_name=event.name,
        post_id=event.post_id,
        next_attempt_at=at or timezone.now(),
    )


def queue_all(deliveries: Sequence[Delivery]) -> None:
    """Store those that are new to their channel, and wake the sender after the commit."""
    if deliveries:
        Delivery.objects.bulk_create(deliveries, ignore_conflicts=True, batch_size=500)
        wake_sender()


def wake_sender() -> None:
    """Start the sender after the commit. One that is at work looks again after it released its lock."""
    send_after_commit(start_sender, "deliveries", once=True)


def start_sender() -> None:
    if not is_locked():
        queue_task("webhooks.tasks.send_deliveries")
