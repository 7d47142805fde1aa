"""Scheduled tasks for preview links."""

from __future__ import annotations

from celery import shared_task

from proofroom_apps.previews import services


@shared_task(name="previews.tasks.forget_old_links")
def forget_old_links() -> int:
    """Delete links that expired more than 30 days ago. Return their number."""
    return services.forget_old_links()
