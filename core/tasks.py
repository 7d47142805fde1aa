"""Wake-ups for the outbox."""

from __future__ import annotations

from celery import shared_task

from core import events


@shared_task
def dispatch_event(event_id: int) -> None:
    events.dispatch(event_id)


@shared_task
def dispatch_events(event_ids: list[int]) -> None:
    for event_id in event_ids:
        events.dispatch(event_id)


@shared_task
def sweep_events() -> int:
    """Dispatch what a lost message left waiting. Answers how many."""
    ids = events.waiting()
    for event_id in ids:
        events.dispatch(event_id)
    return len(ids)


@shared_task
def seal_events() -> int:
    """Add what happened to the chain of the activity log. Answers how many events."""
    return 0
