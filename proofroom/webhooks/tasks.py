"""Celery tasks of deliveries."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from celery import shared_task

from proofroom.core.independent_steps import independent_steps
from proofroom.core.privacy.declarations import days_of
from proofroom.webhooks import delivery, retention
from proofroom.webhooks.delivery_queue import wake_sender
from proofroom.webhooks.services.replay import queue_replays
from proofroom.webhooks.services.webhooks import forget_old_secrets

MAX_BATCHES: Final = 10
"""Batches in one task. A limit, because the sender waits in the same queue."""


@shared_task(name="webhooks.tasks.send_deliveries")
def send_deliveries() -> int:
    """Send due deliveries. Return the number of calls. Idempotent: a second task returns while the first runs."""
    made, is_more = delivery.send_due()
    if is_more:
        send_deliveries.delay()
    return made


@shared_task(name="webhooks.tasks.replay_deliveries")
def replay_deliveries() -> int:
    """Queue the deliveries of replays. Return how many."""
    return queue_replays()


@shared_task(name="webhooks.tasks.sweep_deliveries")
def sweep_deliveries() -> int:
    """Restart replays and the sender after a lost message or a crashed process.

    Return 1 if the sender was woken, else 0.
    """
    woken = 0
    with independent_steps() as step:
        with step("queueing replays"):
            queue_replays()
        with step("waking the sender"):
            if delivery.needs_sender():
                wake_sender()
                woken = 1
    return woken


@shared_task(name="webhooks.tasks.prune_deliveries")
def prune_deliveries() -> int:
    """Delete old deliveries, deliveries of deleted webhooks, and expired secrets. Return how many deliveries."""
    count = 0
    with independent_steps() as step:
        with step("forgetting old secrets"):
            forget_old_secrets()
        with step("purging deliveries of deleted webhooks"):
            count += retention.purge_orphans()
        with step("pruning finished deliveries"):
            count += retention.prune_finished(days=days_of("webhook-deliveries"))
    return count


@shared_task(name="webhooks.tasks.purge_deliveries")
def purge_deliveries(webhook_id: str) -> int:
    """Delete deliveries of a deleted webhook. Return how many."""
    total = retention.purge_webhook(UUID(webhook_id), batches=MAX_BATCHES)
    # Again as a new task, so that the sender gets its turn.
    if total >= MAX_BATCHES * retention.BATCH_SIZE:
        purge_deliveries.delay(webhook_id)
    return total
