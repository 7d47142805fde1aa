"""What workers do with deliveries."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from celery import shared_task
from django.conf import settings

from webhooks import pruning, replaying, sender
from webhooks.delivering import wake_sender
from webhooks.services.webhooks import forget_old_secrets

_BATCHES: Final = 10
"""Deleted at once: who sends waits in the same queue."""


@shared_task(name="webhooks.tasks.send_deliveries")
def send_deliveries() -> int:
    """Send what is due. Answers how many calls were made. Safe to run twice: the second leaves at once."""
    made, is_more = sender.send_due()
    if is_more:
        send_deliveries.delay()
    return made


@shared_task(name="webhooks.tasks.replay_deliveries")
def replay_deliveries() -> int:
    """Queue what people asked to have sent again. Answers how many deliveries."""
    return replaying.go_on()


@shared_task(name="webhooks.tasks.sweep_deliveries")
def sweep_deliveries() -> int:
    """Send what a lost message, or a process that ended, left waiting, and what is due again."""
    replaying.go_on()
    if sender.is_needed():
        wake_sender()
        return 1
    return 0


@shared_task(name="webhooks.tasks.prune_deliveries")
def prune_deliveries() -> int:
    """Delete what was finished long ago, or is of nobody, and secrets that sign no more. Answers how many."""
    forget_old_secrets()
    return pruning.purge_orphans() + pruning.prune(days=settings.CMS_ENV.webhook_delivery_days)


@shared_task(name="webhooks.tasks.purge_deliveries")
def purge_deliveries(webhook_id: str) -> int:
    """Delete what was sent to a webhook that is gone. Answers how many deliveries."""
    total = pruning.purge(UUID(webhook_id), batches=_BATCHES)
    if total >= _BATCHES * pruning.BATCH:
        purge_deliveries.delay(webhook_id)
    return total
