"""Scheduled tasks of comments."""

from __future__ import annotations

from celery import shared_task

from proofroom_apps.comments import services


@shared_task(name="comments.tasks.remind_of_due")
def remind_of_due() -> int:
    """Remind the assignees of threads that are due. Return their number."""
    return services.remind_of_due()
