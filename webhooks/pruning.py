"""Deliveries that were finished long ago go, with their attempts."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from webhooks.models import Attempt, Delivery

_BATCH: Final = 500


def prune(*, days: int) -> int:
    """Delete what was finished more than that many days ago. Answers how many."""
    before = timezone.now() - timedelta(days=days)
    # Nothing is finished before it was made: the first condition has an index.
    old = Delivery.objects.filter(created_at__lt=before, finished_at__lt=before)
    total = 0
    while ids := list(old.order_by("created_at").values_list("pk", flat=True)[:_BATCH]):
        with transaction.atomic():
            Attempt.objects.filter(delivery__in=ids).delete()
            gone, _ = Delivery.objects.filter(pk__in=ids, finished_at__lt=before).delete()
        total += gone
    return total
