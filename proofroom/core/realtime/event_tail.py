"""The latest events, read as they are recorded: for pages over websockets, and for AI clients over their streams."""

from __future__ import annotations

import time
from collections import deque
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from proofroom.core.realtime.messages import EventMessage, load_events, load_last_events

MAX_EVENTS_KEPT: Final = 1000
"""Number of events that a page can catch up on."""
EVENTS_PER_QUERY: Final = 1000
LATE_SECONDS: Final = 120.0
"""Seconds for which skipped ids are looked for."""
MAX_IDS_SKIPPED: Final = 1000
After = UUID | datetime


class Tail:
    """The latest events in the order in which they became visible.

    Ids are assigned when a row is written, but rows become visible at their commit, so a lower id may appear after a
    higher one. Skipped ids are queried again until they appear or `LATE_SECONDS` have passed.

    After a failover that lost the last transactions, new events get the ids of lost ones. The newest event is
    therefore read again each time: if it is missing, the tail starts again.
    """

    def __init__(self) -> None:
        self._found: deque[EventMessage] = deque(maxlen=MAX_EVENTS_KEPT)
        self._newest = -1
        self._newest_uid: UUID | None = None
        self._skipped: dict[int, float] = {}
        self._has_all = False

    @property
    def last(self) -> UUID | None:
        return self._found[-1].uid if self._found else None

    def read(self) -> list[EventMessage]:
        """Return new events since the last call; the first call only finds the current end. One query."""
        if self._newest < 0:
            self._start()
            return []
        which = Q(id__gte=self._newest)
        if self._skipped:
            which |= Q(id__in=list(self._skipped))
        found = load_events(which, EVENTS_PER_QUERY)
        events = [event for event in found if event.uid != self._newest_uid]
        if self._newest_uid is not None and len(events) == len(found):
            return self._start_again()
        if events:
            self._has_all = self._has_all and len(self._found) + len(events) <= MAX_EVENTS_KEPT
            self._add(events)
        self._forget_skipped()
        return events

    def behind(self, after: After | None) -> list[EventMessage] | None:
        """Return the events after an event or a time; None if that is too long ago."""
        if after is None:
            return []
        found = list(self._found)
        if isinstance(after, UUID):
            places = [place for place, event in enumerate(found) if event.uid == after]
            return found[places[0] + 1 :] if places else None
        if not self._has_all and not (found and found[0].at <= after):
            return None
        return [event for event in found if event.at > after]

    def _start(self) -> list[EventMessage]:
        events = load_last_events(MAX_EVENTS_KEPT)
        self._has_all = len(events) < MAX_EVENTS_KEPT
        self._newest = events[0].id if events else 0
        self._newest_uid = None
        self._add(events)
        return events

    def _start_again(self) -> list[EventMessage]:
        """Return the events that the lost history did not contain. One more query."""
        known = {event.uid for event in self._found}
        self._found.clear()
        self._skipped.clear()
        return [event for event in self._start() if event.uid not in known]

    def _add(self, events: list[EventMessage]) -> None:
        until = time.monotonic() + LATE_SECONDS
        for event in events:
            # Rolled-back transactions leave gaps that are never filled, so bound their number.
            first = max(self._newest + 1, event.id - MAX_IDS_SKIPPED)
            self._skipped |= dict.fromkeys(range(first, event.id), until)
            self._skipped.pop(event.id, None)
            if event.id >= self._newest:
                self._newest, self._newest_uid = event.id, event.uid
        self._found.extend(events)

    def _forget_skipped(self) -> None:
        now = time.monotonic()
        # Dictionaries keep insertion order, so the oldest come first.
        for number in list(self._skipped)[: max(0, len(self._skipped) - MAX_IDS_SKIPPED)]:
            del self._skipped[number]
        for number in [number for number, until in self._skipped.items() if until < now]:
            del self._skipped[number]
