"""Tasks of the outbox, the metrics and the activity log."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from celery import shared_task

from proofroom.core import outbox
from proofroom.core.activity import chain
from proofroom.core.observability import metrics
from proofroom.core.privacy.declarations import days_of

SWEEP_SECONDS: Final = 25.0


@shared_task(name="core.tasks.dispatch_event")
def dispatch_event(event_id: int, post_id: str) -> None:
    """Dispatch the open events of a post, or this event if `post_id` is empty."""
    if post_id:
        outbox.dispatch_posts([UUID(post_id)], [])
    else:
        outbox.dispatch_posts([], [event_id])


@shared_task(name="core.tasks.dispatch_events")
def dispatch_events(event_ids: list[int], post_ids: list[str]) -> None:
    """Dispatch the open events of these posts, and these events without a post."""
    outbox.dispatch_posts(map(UUID, post_ids), event_ids)


@shared_task(name="core.tasks.sweep_events")
def sweep_events() -> int:
    """Dispatch events whose message was lost, until about the next sweep. Return their number."""
    return outbox.sweep(SWEEP_SECONDS)


@shared_task(name="core.tasks.export_readings")
def export_readings() -> int:
    """Send gauges to the metrics collector. Return the number of readings."""
    return metrics.export_readings()


@shared_task(name="core.tasks.seal_events")
def seal_events() -> int:
    """Seal new events of the activity log. Return their number."""
    return chain.seal_events()


@shared_task(name="core.tasks.prune_activity")
def prune_activity() -> int:
    """Delete entries of the activity log older than `ACTIVITY_DAYS`."""
    return chain.prune(days=days_of("activity"))
