"""Deletes views and clicks, and the figures added up from them, by age."""

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
    """Delete what is older than that many days and is added up; 0 days keep everything. Safe to run twice.

    Whole months go at once where the database keeps them apart. Answers how many were deleted beside them.
    """
    if days <= 0:
        return 0
    before = timezone.now() - timedelta(days=days)
    counted_to: int = RollUp.objects.aggregate(last=Max("counted_to"))["last"] or 0
    drop_before(before, counted_to=counted_to)
    old = AnalyticsEvent.objects.filter(created_at__lt=before, id__lte=counted_to)
    total = 0
    while True:
        ids = list(old.order_by("id").values_list("id", flat=True)[:BATCH_SIZE])
        if not ids:
            return total
        total += old.filter(id__lte=ids[-1]).delete()[0]


def forget_old_figures(*, days: int) -> int:
    """Delete figures of days, and of whole months, that are older; 0 days keep them. Answers how many."""
    if days <= 0:
        return 0
    day = today() - timedelta(days=days)
    # A day at a time, then sheets that are empty. Who adds up stands aside meanwhile.
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
                # In one order and locked, so that who adds up meanwhile waits for this batch alone.
                ids = list(counts.select_for_update().values_list("id", flat=True)[:BATCH_SIZE])
                if not ids:
                    break
                total += model._default_manager.filter(id__in=ids).delete()[0]
    return total
