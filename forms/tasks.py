"""Scheduled tasks for forms."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from forms.services.submissions import prune_submissions as prune


@shared_task(name="forms.tasks.prune_submissions")
def prune_submissions() -> int:
    """Delete submissions older than `FORM_RETENTION_DAYS`."""
    return prune(days=settings.CMS_ENV.form_retention_days)
