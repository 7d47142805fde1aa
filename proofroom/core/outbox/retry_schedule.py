"""When somebody has to be told of an event: at once, and after a failure again, waiting longer each time."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q

from proofroom.core.models import Event

logger = logging.getLogger(__name__)
MAX_ATTEMPTS: Final = 20
_FIRST_WAIT: Final = timedelta(seconds=30)
_LONGEST_WAIT: Final = timedelta(hours=1)


def due_events(now: datetime) -> Q:
    """Events that somebody has to be told of now."""
    return open_events() & (Q(next_at__isnull=True) | Q(next_at__lte=now))


def open_events() -> Q:
    return Q(dispatched_at__isnull=True, attempts__lt=MAX_ATTEMPTS)


def count_failure(event: Event, now: datetime) -> None:
    """Note, on the row in memory, that somebody did not take it."""
    event.attempts += 1
    event.next_at = next_attempt_at(event.attempts, now)
    if event.attempts == MAX_ATTEMPTS:
        logger.error("%s failed %s times and is not tried again", event, MAX_ATTEMPTS)


def next_attempt_at(attempts: int, now: datetime) -> datetime | None:
    """Its next time, after so many failures; None is at once, or never where they were too many."""
    if attempts in (0, MAX_ATTEMPTS):
        return None
    return now + min(_FIRST_WAIT * (1 << (attempts - 1)), _LONGEST_WAIT)
