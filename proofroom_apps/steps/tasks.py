"""Scheduled tasks of editorial steps."""

from __future__ import annotations

from celery import shared_task

from proofroom_apps.steps import services


@shared_task(name="steps.tasks.remind_of_due")
def remind_of_due() -> int:
    """Remind the people whom steps ask that are due. Return the number of steps."""
    return services.remind_of_due()
