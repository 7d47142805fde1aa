"""What the scheduler does with views and clicks."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from analytics.services.track import forget_old_events


@shared_task
def prune_events() -> int:
    """Delete views and clicks that are older than `ANALYTICS_RETENTION_DAYS`. Answers how many."""
    return forget_old_events(days=settings.CMS_ENV.analytics_retention_days)
