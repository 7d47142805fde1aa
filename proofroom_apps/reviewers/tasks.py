"""Scheduled tasks for reviewer links."""

from __future__ import annotations

from celery import shared_task

from proofroom_apps.reviewers import links


@shared_task(name="reviewers.tasks.forget_old_links")
def forget_old_links() -> int:
    """Delete links that ended long ago, with what their reviewers said. Return their number."""
    return links.forget_old_links()
