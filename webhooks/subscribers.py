"""Webhooks are told of what they chose: a delivery each, written with the note that they were told."""

from __future__ import annotations

from core import events
from core.models import Event
from webhooks.delivering import lane_of, new_delivery, queue_all
from webhooks.models import Webhook


def connect() -> None:
    """Subscribe to the events that webhooks may choose. Called once, at start."""
    from webhooks.forgetting import forget

    events.subscribe(
        [kind.name for kind in events.all_kinds() if kind.is_webhook],
        queue_for_webhooks,
        id="webhooks.subscribers.queue_for_webhooks",
    )
    events.events_forgotten.register(forget)


def queue_for_webhooks(event: Event) -> None:
    """One delivery for every active webhook that wants the event."""
    if event.forgotten_at is not None:
        return
    webhooks = [row for row in Webhook.objects.filter(is_active=True) if wants(row, event)]
    queue_all([new_delivery(event, lane_of(row), webhook=row) for row in webhooks])


def wants(webhook: Webhook, event: Event) -> bool:
    """Whether it chose such events. Filters by type and language are about posts, and leave out nothing else."""
    if event.name not in webhook.events:
        return False
    if not event.name.startswith("post."):
        return True
    return _fits(webhook.types, event.payload.get("type")) and _fits(
        webhook.locales, event.payload.get("locale")
    )


def _fits(chosen: list[str], value: object) -> bool:
    return not chosen or value in chosen
