"""Scheduled tasks for forms."""

from __future__ import annotations

from celery import shared_task

from forms.services.submissions import prune_submissions as prune
from proofroom.core.privacy.declarations import days_of


@shared_task(name="forms.tasks.prune_submissions")
def prune_submissions() -> int:
    """Delete submissions older than `FORM_RETENTION_DAYS`."""
    return prune(days=days_of("submissions"))
