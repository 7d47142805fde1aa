"""What workers do with deliveries."""

from __future__ import annotations

from celery import shared_task


@shared_task
def send_deliveries() -> int:
    """Send what is due. Answers how many calls were made. Safe to run twice."""
    return 0


@shared_task
def sweep_deliveries() -> int:
    """Send what a lost message, or a process that ended, left waiting."""
    return 0


@shared_task
def prune_deliveries() -> int:
    """Delete what was finished long ago. Answers how many."""
    return 0
