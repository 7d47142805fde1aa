"""Replays go on in batches. The cursor moves with what it queued, so a killed one goes on where it was."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.utils import timezone

from core.models import Event
from webhooks.delivering import lane_of, new_delivery, queue_all, wake_sender
from webhooks.models import Delivery, DeliveryStatus, Webhook
from webhooks.subscribers import wants

BATCH: Final = 500
_BATCHES_AT_ONCE: Final = 100


def go_on() -> int:
    """Queue the next batches of every replay. Answers how many deliveries."""
    total = 0
    for _ in range(_BATCHES_AT_ONCE):
        queued = _next_batch()
        if queued is None:
            break
        total += queued
    return total


@transaction.atomic
def _next_batch() -> int | None:
    """One batch of the replay that waits first; None where there is none, or another process is at all of them."""
    webhook = (
        Webhook.objects.select_for_update(skip_locked=True, no_key=True)
        .filter(replay_until__isnull=False)
        .order_by("replay_after", "pk")
        .first()
    )
    if webhook is None:
        return None
    found = list(
        Event.objects.filter(
            id__gt=webhook.replay_after or 0, id__lte=webhook.replay_until, name__in=webhook.events
        ).order_by("id")[:BATCH]
    )
    is_over = len(found) < BATCH
    webhook.replay_after = None if is_over else found[-1].pk
    webhook.replay_until = None if is_over else webhook.replay_until
    webhook.save(update_fields=["replay_after", "replay_until"])
    chosen = [event for event in found if event.forgotten_at is None and wants(webhook, event)]
    return _queue(webhook, chosen)


def _queue(webhook: Webhook, chosen: list[Event]) -> int:
    """What was finished begins again, under its old id; what is under way is left alone."""
    lane = lane_of(webhook)
    again = Delivery.objects.filter(
        lane=lane, event__in=[event.pk for event in chosen], next_attempt_at__isnull=True
    ).update(
        status=DeliveryStatus.PENDING,
        attempts=0,
        next_attempt_at=timezone.now(),
        claimed_until=None,
        finished_at=None,
    )
    known = set(
        Delivery.objects.filter(lane=lane, event__in=[event.pk for event in chosen]).values_list(
            "event_id", flat=True
        )
    )
    fresh = [
        new_delivery(event, lane, webhook=webhook) for event in chosen if event.pk not in known
    ]
    queue_all(fresh)
    if again and not fresh:
        wake_sender()
    return again + len(fresh)
