"""Deletion of deliveries with their attempts: old ones, and all of deleted webhooks and forgotten events."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from proofroom.webhooks.models import Attempt, Delivery, DeliveryStatus, Webhook

BATCH_SIZE: Final = 500
FORGOTTEN: Final = "The words of this event were deleted."


def prune_finished(*, days: int) -> int:
    """Delete deliveries finished more than `days` days ago. Return how many."""
    before = timezone.now() - timedelta(days=days)
    # `created_at` has an index, `finished_at` has none, and no delivery finishes before it is created.
    old = Delivery.objects.filter(created_at__lt=before, finished_at__lt=before)
    total = 0
    while ids := list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH_SIZE]):
        with transaction.atomic():
            Attempt.objects.filter(delivery__in=ids).delete()
            # The condition again, because a delivery may have been sent again since the query.
            gone, _ = Delivery.objects.filter(pk__in=ids, finished_at__lt=before).delete()
        total += gone
    return total


def purge_orphans() -> int:
    """Delete deliveries of deleted webhooks whose deletion task was lost. Return how many."""
    is_there = Exists(Webhook.objects.filter(pk=OuterRef("webhook_id")))
    rows = Delivery.objects.filter(~is_there, webhook_id__isnull=False).order_by()
    total = 0
    for webhook_id in rows.values_list("webhook_id", flat=True).distinct():
        total += purge_webhook(webhook_id)
    return total


def purge_webhook(webhook_id: UUID, *, batches: int | None = None) -> int:
    """Delete the deliveries of a webhook: all, or this many batches. Return how many."""
    total = 0
    for _ in count() if batches is None else range(batches):
        number = purge_batch(webhook_id)
        total += number
        if number < BATCH_SIZE:
            break
    return total


@transaction.atomic
def purge_batch(webhook_id: UUID) -> int:
    """Delete at most `BATCH_SIZE` deliveries of a webhook. Return how many."""
    rows = Delivery.objects.filter(webhook_id=webhook_id).order_by("-created_at")
    ids = list(rows.values_list("pk", flat=True)[:BATCH_SIZE])
    # Locked in order of id, as in the sender, so that the two do not deadlock.
    len(Delivery.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk"))
    Attempt.objects.filter(delivery__in=ids).delete()
    Delivery.objects.filter(pk__in=ids).delete()
    return len(ids)


def forget_events(event_ids: list[int]) -> None:
    """Cancel unsent deliveries of these events, and delete responses that may repeat their words.

    Call in the transaction that deletes the words.
    """
    rows = Delivery.objects.filter(event_id__in=event_ids)
    # Locked in order of id, as in the sender, so that the two do not deadlock.
    ids = list(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
    if not ids:
        return
    Attempt.objects.filter(delivery__in=ids).update(response_body="", response_headers={})
    Delivery.objects.filter(pk__in=ids, next_attempt_at__isnull=False).update(
        status=DeliveryStatus.CANCELLED,
        next_attempt_at=None,
        claimed_until=None,
        finished_at=timezone.now(),
        last_error=FORGOTTEN,
    )
