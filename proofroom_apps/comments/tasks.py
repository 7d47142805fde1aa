"""Scheduled tasks of comments."""

from __future__ import annotations

from celery import shared_task

from proofroom.core.privacy.declarations import days_of
from proofroom_apps.comments import services


@shared_task(name="comments.tasks.remind_of_due")
def remind_of_due() -> int:
    """Remind the assignees of threads that are due. Return their number."""
    return services.remind_of_due()


@shared_task(name="comments.tasks.prune_comments")
def prune_comments() -> int:
    """Delete threads that were resolved more than `COMMENT_DAYS` ago. Return their number."""
    return services.prune_comments(days=days_of("comments"))
