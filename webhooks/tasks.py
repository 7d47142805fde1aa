"""What workers do with deliveries."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from webhooks import pruning, replaying, sender
from webhooks.delivering import wake_sender
from webhooks.services.webhooks import forget_old_secrets


@shared_task
def send_deliveries() -> int:
    """Send what is due. Answers how many calls were made. Safe to run twice: the second leaves at once."""
    made, is_more = sender.send_due()
    if is_more:
        send_deliveries.delay()
    return made


@shared_task
def replay_deliveries() -> int:
    """Queue what people asked to have sent again. Answers how many deliveries."""
    return replaying.go_on()


@shared_task
def sweep_deliveries() -> int:
    """Send what a lost message, or a process that ended, left waiting, and what is due again."""
    replaying.go_on()
    if sender.is_needed():
        wake_sender()
        return 1
    return 0


@shared_task
def prune_deliveries() -> int:
    """Delete what was finished long ago, and secrets that sign no more. Answers how many deliveries."""
    forget_old_secrets()
    return pruning.prune(days=settings.CMS_ENV.webhook_delivery_days)
