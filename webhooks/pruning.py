"""Deliveries go with their attempts: what was finished long ago, and what is of webhooks that are gone."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from webhooks.models import Attempt, Delivery, Webhook

BATCH: Final = 500


def prune(*, days: int) -> int:
    """Delete what was finished more than that many days ago. Answers how many."""
    before = timezone.now() - timedelta(days=days)
    # Nothing is finished before it was made: the first condition has an index.
    old = Delivery.objects.filter(created_at__lt=before, finished_at__lt=before)
    total = 0
    while ids := list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH]):
        with transaction.atomic():
            Attempt.objects.filter(delivery__in=ids).delete()
            gone, _ = Delivery.objects.filter(pk__in=ids, finished_at__lt=before).delete()
        total += gone
    return total


def purge_orphans() -> int:
    """Delete what is of webhooks that are gone, should a message have been lost. Answers how many."""
    is_there = Exists(Webhook.objects.filter(pk=OuterRef("webhook_id")))
    rows = Delivery.objects.filter(~is_there, webhook_id__isnull=False).order_by()
    total = 0
    for webhook_id in rows.values_list("webhook_id", flat=True).distinct():
        total += purge(webhook_id)
    return total


def purge(webhook_id: UUID, *, batches: int | None = None) -> int:
    """Delete what was, or is to be, sent to a webhook: everything, or so many batches. Answers how many."""
    total = 0
    for _ in count() if batches is None else range(batches):
        number = purge_batch(webhook_id)
        total += number
        if number < BATCH:
            break
    return total


@transaction.atomic
def purge_batch(webhook_id: UUID) -> int:
    """At most `BATCH` of them."""
    rows = Delivery.objects.filter(webhook_id=webhook_id).order_by("-created_at")
    ids = list(rows.values_list("pk", flat=True)[:BATCH])
    # In one order, as the sender does, so that the two never wait for each other.
    len(Delivery.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk"))
    Attempt.objects.filter(delivery__in=ids).delete()
    Delivery.objects.filter(pk__in=ids).delete()
    return len(ids)
