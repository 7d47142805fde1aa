"""Scheduled tasks for views and clicks."""

from __future__ import annotations

from typing import Final

from celery import shared_task

from analytics.ingest.partitions import create_partitions_ahead
from analytics.rollups.aggregate import add_all, close_months
from analytics.rollups.merge_batches import merge_batches
from analytics.rollups.merge_rare import merge_rare_values
from analytics.services.retention import forget_old_events, forget_old_figures
from proofroom.core.independent_steps import independent_steps
from proofroom.core.privacy.declarations import days_of

_MAX_SECONDS: Final = 25.0
"""Shorter than the scheduler's interval, so that runs do not overlap."""


@shared_task(name="analytics.tasks.add_up_events")
def add_up_events() -> int:
    """Add new events to the figures, and close finished months. Return the number of events."""
    counted = 0
    with independent_steps() as step:
        with step("adding up events"):
            counted = add_all(_MAX_SECONDS)
        with step("closing months"):
            close_months()
    return counted


@shared_task(name="analytics.tasks.merge_rare_figures")
def merge_rare_figures() -> int:
    """Merge rare values and heatmap batches of finished days. Return the number of merged counts."""
    merged = 0
    with independent_steps() as step:
        with step("merging rare values"):
            merged = merge_rare_values()
        with step("merging batches of heatmaps"):
            merge_batches()
    return merged


@shared_task(name="analytics.tasks.prune_events")
def prune_events() -> int:
    """Create partitions ahead, and delete data older than `ANALYTICS_RETENTION_DAYS` and
    `ANALYTICS_FIGURES_DAYS`.
    """
    count = 0
    with independent_steps() as step:
        with step("making months ahead"):
            create_partitions_ahead()
        with step("forgetting old events"):
            count += forget_old_events(days=days_of("analytics-events"))
        with step("forgetting old figures"):
            count += forget_old_figures(days=days_of("analytics-figures"))
    return count
