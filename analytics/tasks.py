"""What the scheduler does with views and clicks."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from analytics.partitions import keep_ahead
from analytics.services.retention import forget_old_events, forget_old_figures


@shared_task
def prune_events() -> int:
    """Make months ahead, and delete what `ANALYTICS_RETENTION_DAYS` and `ANALYTICS_FIGURES_DAYS` no longer keep."""
    keep_ahead()
    events = forget_old_events(days=settings.CMS_ENV.analytics_retention_days)
    figures = forget_old_figures(days=settings.CMS_ENV.analytics_figures_days)
    return events + figures
