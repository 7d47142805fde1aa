"""The latest events, read as they come: for pages by their websocket, and for AI clients by their streams."""

from __future__ import annotations

import time
from collections import deque
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from proofroom.core.realtime.messages import EventMessage, load_events, load_last_events

MAX_EVENTS_KEPT: Final = 1000
"""Events that a page which was away can still be told of."""
EVENTS_PER_QUERY: Final = 1000
LATE_SECONDS: Final = 120.0
"""How long a number that was skipped is looked for."""
MAX_IDS_SKIPPED: Final = 1000
After = UUID | datetime


class Tail:
    """The latest events, in the order in which they were found.

    Numbers are given when a row is written, and rows are seen when their transaction commits, so a lower number may
    come after a higher one: those that were skipped are asked for too, until they come or are too late.
    """

    def __init__(self) -> None:
        self._found: deque[EventMessage] = deque(maxlen=MAX_EVENTS_KEPT)
        self._newest = -1
        self._skipped: dict[int, float] = {}
        self._has_all = False

    @property
    def last(self) -> UUID | None:
        return self._found[-1].uid if self._found else None

    def read(self) -> list[EventMessage]:
        """What is new since the last time; nothing the first time, when it looks where the end is. One query."""
        if self._newest < 0:
            self._begin()
            return []
        which = Q(id__gt=self._newest)
        if self._skipped:
            which |= Q(id__in=list(self._skipped))
        events = load_events(which, EVENTS_PER_QUERY)
        if events:
            self._has_all = self._has_all and len(self._found) + len(events) <= MAX_EVENTS_KEPT
            self._take(events)
        self._give_up()
        return events

    def behind(self, after: After | None) -> list[EventMessage] | None:
        """What was found after an event, or happened after a moment; None where that is too long ago to say."""
        if after is None:
            return []
        found = list(self._found)
        if isinstance(after, UUID):
            places = [place for place, event in enumerate(found) if event.uid == after]
            return found[places[0] + 1 :] if places else None
        if not self._has_all and not (found and found[0].at <= after):
            return None
        return [event for event in found if event.at > after]

    def _begin(self) -> None:
        events = load_last_events(MAX_EVENTS_KEPT)
        self._has_all = len(events) < MAX_EVENTS_KEPT
        self._newest = events[0].id if events else 0
        self._take(events)

    def _take(self, events: list[EventMessage]) -> None:
        until = time.monotonic() + LATE_SECONDS
        for event in events:
            first = max(self._newest + 1, event.id - MAX_IDS_SKIPPED)
            self._skipped |= dict.fromkeys(range(first, event.id), until)
            self._skipped.pop(event.id, None)
            self._newest = max(self._newest, event.id)
        self._found.extend(events)

    def _give_up(self) -> None:
        now = time.monotonic()
        # The oldest are the first, since dictionaries keep their order.
        for number in list(self._skipped)[: max(0, len(self._skipped) - MAX_IDS_SKIPPED)]:
            del self._skipped[number]
        for number in [number for number, until in self._skipped.items() if until < now]:
            del self._skipped[number]
