"""Scheduled tasks of feedback."""

from __future__ import annotations

from celery import shared_task

from proofroom.core.privacy.declarations import days_of
from proofroom_apps.feedback import services


@shared_task(name="feedback.tasks.prune_feedback")
def prune_feedback() -> int:
    """Delete feedback that was resolved more than `FEEDBACK_DAYS` ago."""
    return services.prune_feedback(days=days_of("feedback"))
