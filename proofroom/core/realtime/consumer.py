"""The websocket of pages that hear of events."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from django.db.models import Q

from proofroom.core.actor import ActorUser
from proofroom.core.json import JsonObject
from proofroom.core.realtime.messages import (
    EventMessage,
    MayHear,
    OpenEditor,
    load_events,
    load_last_events,
    may_hear_of,
    message,
    presence_message,
    who_is_at,
)
from proofroom.core.realtime.polling_hub import (
    CHECK_SECONDS,
    NOT_AUTHORIZED,
    Hubs,
    OpenPage,
    PageHub,
    Ticket,
    still_authorized,
)
from proofroom.core.realtime.websockets import PageConsumer

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


class Listener(OpenPage):
    """Of one post, or of all; `after` is what it heard last."""

    def __init__(self, ticket: Ticket, post_id: UUID | None, after: After | None) -> None:
        super().__init__(ticket)
        self.post_id = post_id
        self.after = after
        self.has_begun = False
        self.told_here: Sequence[OpenEditor] = ()


MAX_EVENTS_PER_POLL: Final = 50
"""Events that a page hears of one by one; of more at once it hears that it should load again."""
PING_SECONDS: Final = 20.0
VERSION: Final = 1
"""Of the messages."""


@dataclass(frozen=True, slots=True)
class _PolledEvents:
    """The events that one look at the database found."""

    new: Sequence[EventMessage]
    missed: dict[Listener, list[EventMessage] | None]
    holders: dict[Ticket, ActorUser]
    may_hear: MayHear
    here: Mapping[UUID, Sequence[OpenEditor]]


class Hub(PageHub[Listener]):
    """The pages of this process that hear of events."""

    most_pages: ClassVar[int] = 5000
    most_pages_of_one: ClassVar[int] = 100

    def __init__(self) -> None:
        super().__init__()
        self._tail = Tail()
        # Read, and not told yet: what was read stays, should the database go away before all is known.
        self._untold: deque[EventMessage] = deque(maxlen=MAX_EVENTS_KEPT)
        self._check_at = 0.0
        self._ping_at = time.monotonic() + PING_SECONDS

    async def turn(self, pages: Sequence[Listener]) -> None:
        now = time.monotonic()
        found = await database_sync_to_async(self._look)(pages, now >= self._check_at)
        if found is not None:
            self._check_at = now + CHECK_SECONDS
            self._tell(pages, found)
            self._untold.clear()
        if now >= self._ping_at:
            self._ping_at = now + PING_SECONDS
            for listener in pages:
                listener.say(self._signal("ping"))

    def _look(self, listeners: Collection[Listener], is_due: bool) -> _PolledEvents | None:
        """One query, one more where pages of posts are open; to tell something, three more for the rights of all."""
        self._untold.extend(self._tail.read())
        new = list(self._untold)
        missed = {one: self._tail.behind(one.after) for one in listeners if not one.has_begun}
        at_posts = who_is_at({one.post_id for one in listeners if one.post_id is not None})
        is_news = any(_others(one, at_posts) != one.told_here for one in listeners)
        if not new and not missed and not is_due and not is_news:
            return None
        events = {event.uid: event for event in new}
        for some in missed.values():
            events |= {event.uid: event for event in some or ()}
        return _PolledEvents(
            new,
            missed,
            still_authorized({one.ticket for one in listeners}),
            may_hear_of(list(events.values())),
            at_posts,
        )

    def _tell(self, listeners: Collection[Listener], found: _PolledEvents) -> None:
        for listener in listeners:
            person = found.holders.get(listener.ticket)
            if person is None:
                listener.end(NOT_AUTHORIZED)
                continue
            events: Sequence[EventMessage] | None = found.new
            if listener in found.missed:
                listener.has_begun = True
                listener.say(self._signal("hello") | {"version": VERSION})
                events = found.missed[listener]
            self._pass_on(listener, person, events, found.may_hear)
            if (pages := _others(listener, found.here)) != listener.told_here:
                listener.told_here = pages
                listener.say({"editing": [*presence_message(person.pk, pages)]})

    def _pass_on(
        self,
        listener: Listener,
        person: ActorUser,
        events: Sequence[EventMessage] | None,
        may_hear: MayHear,
    ) -> None:
        heard = [
            event
            for event in events or ()
            if listener.post_id in (None, event.post_id) and may_hear(person, event)
        ]
        if events is None or len(heard) > MAX_EVENTS_PER_POLL:
            listener.say(self._signal("reload"))
            return
        for event in heard:
            listener.say(message(event, person.pk))

    def _signal(self, name: str) -> JsonObject:
        """With the last event there is, which a page that comes again asks for what followed."""
        last = self._tail.last
        return {name: True, "last": str(last) if last else None}


def _others(
    listener: Listener, at_posts: Mapping[UUID, Sequence[OpenEditor]]
) -> Sequence[OpenEditor]:
    """Return who is at the post of a page; nobody for a page that follows no post."""
    return tuple(at_posts.get(listener.post_id, ())) if listener.post_id else ()


hubs: Final[Hubs[Listener]] = Hubs(Hub)


_SECONDS: Final = re.compile(r"[0-9]{1,11}(\.[0-9]{1,6})?\Z", re.ASCII)


class EventsConsumer(PageConsumer[Listener]):
    """`/ws/events/`. `?post=` hears of one post only. `?after=` is told what was missed: since an event, by its id,
    or since a moment, in seconds since 1970.
    """

    permission: ClassVar[str] = "posts.view"
    hubs = hubs

    def page_of(self, ticket: Ticket) -> Listener:
        given: dict[str, Any] = parse_qs(
            self.scope["query_string"].decode("ascii"), max_num_fields=10
        )
        post, text = given.get("post", [""])[0], given.get("after", [""])[0]
        after: After | None = None
        if _SECONDS.match(text):
            after = datetime.fromtimestamp(float(text), UTC)
        elif text:
            after = UUID(text)
        return Listener(ticket, UUID(post) if post else None, after)
