"""Wake-ups for the outbox."""

from __future__ import annotations

from typing import Final

from celery import shared_task
from django.conf import settings

from proofroom.core import outbox
from proofroom.core.activity import chain

SWEEP_SECONDS: Final = 25.0


@shared_task(name="core.tasks.dispatch_event")
def dispatch_event(event_id: int) -> None:
    outbox.dispatch(event_id)


@shared_task(name="core.tasks.dispatch_events")
def dispatch_events(event_ids: list[int]) -> None:
    outbox.dispatch_all(event_ids)


@shared_task(name="core.tasks.sweep_events")
def sweep_events() -> int:
    """Tell of what lost messages left waiting, until about the next sweep. Answers how many events."""
    return outbox.sweep(SWEEP_SECONDS)


@shared_task(name="core.tasks.seal_events")
def seal_events() -> int:
    """Add what happened to the chain of the activity log. Answers how many events."""
    return chain.seal_events()


@shared_task(name="core.tasks.prune_activity")
def prune_activity() -> int:
    """Delete the entries of the activity log that are older than `ACTIVITY_DAYS`."""
    return chain.prune(days=settings.CMS_ENV.activity_days)
