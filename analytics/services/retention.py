"""Deletes old views and clicks, and old figures."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.utils import timezone

from analytics.ingest.partitions import drop_before
from analytics.models import (
    AnalyticsEvent,
    Grain,
    HeatBatch,
    HeatSheet,
    PostCount,
    RollUp,
    SiteCount,
)
from analytics.periods import today
from analytics.rollups.aggregate import lock_state

BATCH_SIZE: Final = 5_000


def forget_old_events(*, days: int) -> int:
    """Delete events that are older than `days` and added up; 0 keeps everything. Idempotent.

    Whole months are dropped as partitions on PostgreSQL. Returns the number of other deleted
    events.
    """
    if days <= 0:
        return 0
    before = timezone.now() - timedelta(days=days)
    counted_to: int = RollUp.objects.aggregate(last=Max("counted_to"))["last"] or 0
    drop_before(before, counted_to=counted_to)
    old = AnalyticsEvent.objects.filter(created_at__lt=before, id__lte=counted_to)
    total = 0
    while True:
        # In batches, to keep transactions and locks short.
        ids = list(old.order_by("id").values_list("id", flat=True)[:BATCH_SIZE])
        if not ids:
            return total
        total += old.filter(id__lte=ids[-1]).delete()[0]


def forget_old_figures(*, days: int) -> int:
    """Delete older figures of days and whole months; 0 keeps them. Return their number."""
    if days <= 0:
        return 0
    day = today() - timedelta(days=days)
    # One day per transaction, then empty sheets. The lock pauses adding up meanwhile.
    old = HeatBatch.objects.filter(day__lt=day)
    total = 0
    for forgotten in list(old.values_list("day", flat=True).distinct()):
        with transaction.atomic():
            lock_state(wait=True)
            total += HeatBatch.objects.filter(day=forgotten).delete()[0]
    if total:
        with transaction.atomic():
            lock_state(wait=True)
            HeatSheet.objects.exclude(
                Exists(HeatBatch.objects.filter(sheet=OuterRef("pk")))
            ).delete()
    for model in (SiteCount, PostCount):
        counts = model._default_manager.filter(
            Q(grain=Grain.DAY, day__lt=day) | Q(grain=Grain.MONTH, day__lt=day.replace(day=1))
        ).order_by("id")
        while True:
            with transaction.atomic():
                # Ordered and locked, so that adding up waits for one batch only and cannot
                # deadlock.
                ids = list(counts.select_for_update().values_list("id", flat=True)[:BATCH_SIZE])
                if not ids:
                    break
                total += model._default_manager.filter(id__in=ids).delete()[0]
    return total
