"""Scheduled tasks for views and clicks."""

from __future__ import annotations

from typing import Final

from celery import shared_task
from django.conf import settings

from analytics.ingest.partitions import keep_ahead
from analytics.rollups.aggregate import add_all, close_months
from analytics.rollups.merge_batches import merge_batches
from analytics.rollups.merge_rare import merge_rare_values
from analytics.services.retention import forget_old_events, forget_old_figures
from proofroom.core.independent_steps import independent_steps

_MAX_SECONDS: Final = 25.0
"""Less than the scheduler waits: the next one goes on where this one ends."""


@shared_task(name="analytics.tasks.add_up_events")
def add_up_events() -> int:
    """Add what came since to the figures, and close months that are over. Answers how many events."""
    counted = 0
    with independent_steps() as step:
        with step("adding up events"):
            counted = add_all(_MAX_SECONDS)
        with step("closing months"):
            close_months()
    return counted


@shared_task(name="analytics.tasks.merge_rare_figures")
def merge_rare_figures() -> int:
    """Put what is rare on days that are over together. Answers how many counts went into others.

    The batches of heatmaps on these days become one of each sheet, too.
    """
    merged = 0
    with independent_steps() as step:
        with step("merging rare values"):
            merged = merge_rare_values()
        with step("merging batches of heatmaps"):
            merge_batches()
    return merged


@shared_task(name="analytics.tasks.prune_events")
def prune_events() -> int:
    """Make months ahead, and delete what `ANALYTICS_RETENTION_DAYS` and `ANALYTICS_FIGURES_DAYS` no longer keep."""
    count = 0
    with independent_steps() as step:
        with step("making months ahead"):
            keep_ahead()
        with step("forgetting old events"):
            count += forget_old_events(days=settings.CMS_ENV.analytics_retention_days)
        with step("forgetting old figures"):
            count += forget_old_figures(days=settings.CMS_ENV.analytics_figures_days)
    return count
