"""One task in a process tells all its open pages: however many there are, it looks once at a time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings

from core.actor import Person
from core.json import JsonObject
from core.live.holders import Ticket, holders
from core.live.listener import NOT_LET_IN, Listener
from core.live.presence import Here, here, told_to
from core.live.rights import MayHear, may_hear_of
from core.live.tail import Tail
from core.live.told import Told, message

logger = logging.getLogger(__name__)
MOST_PAGES: Final = 5000
MOST_PAGES_OF_ONE: Final = 100
MOST_AT_ONCE: Final = 50
"""Events that a page hears of one by one; of more at once it hears that it should load again."""
CHECK_SECONDS: Final = 2.0
"""How often pages are looked at that nothing is told to: who was logged out must not stay connected."""
PING_SECONDS: Final = 20.0
VERSION: Final = 1
"""Of the messages."""


@dataclass(frozen=True, slots=True)
class _Round:
    """What one look at the database found."""

    new: Sequence[Told]
    missed: dict[Listener, list[Told] | None]
    holders: dict[Ticket, Person]
    may_hear: MayHear
    here: Mapping[UUID, Sequence[Here]]


class Hub:
    """The pages that are open in this process."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._tail = Tail()
        self._wake = asyncio.Event()
        self._check_at = 0.0
        self._ping_at = time.monotonic() + PING_SECONDS
        self._is_failing = False

    def join(self, listener: Listener) -> bool:
        """Tell it from now on; False where too many are open."""
        own = [one for one in self._listeners if one.ticket.user_id == listener.ticket.user_id]
        if len(own) >= MOST_PAGES_OF_ONE or len(self._listeners) >= MOST_PAGES:
            return False
        self._listeners.add(listener)
        self._wake.set()
        return True

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)
        self._wake.set()

    async def run(self) -> None:
        """Until the last page is closed."""
        while self._listeners:
            self._wake.clear()
            try:
                await self._turn()
                self._is_failing = False
            except Exception:  # a database that is away for a moment ends no connection
                if not self._is_failing:
                    logger.exception("open pages are told nothing until this works again")
                self._is_failing = True
            try:
                await asyncio.wait_for(self._wake.wait(), settings.LIVE_POLL_SECONDS)
            except TimeoutError:
                continue

    async def _turn(self) -> None:
        listeners = list(self._listeners)
        now = time.monotonic()
        found = await database_sync_to_async(self._look)(listeners, now >= self._check_at)
        if found is not None:
            self._check_at = now + CHECK_SECONDS
            self._tell(listeners, found)
        if now >= self._ping_at:
            self._ping_at = now + PING_SECONDS
            for listener in listeners:
                listener.say(self._signal("ping"))
        self._listeners -= {listener for listener in listeners if listener.has_ended}

    def _look(self, listeners: Collection[Listener], is_due: bool) -> _Round | None:
        """One query, one more where pages of posts are open; to tell something, three more for the rights of all."""
        new = self._tail.read()
        missed = {one: self._tail.behind(one.after) for one in listeners if not one.has_begun}
        at_posts = here({one.post_id for one in listeners if one.post_id is not None})
        is_news = any(_others(one, at_posts) != one.told_here for one in listeners)
        if not new and not missed and not is_due and not is_news:
            return None
        events = {event.uid: event for event in new}
        for some in missed.values():
            events |= {event.uid: event for event in some or ()}
        return _Round(
            new,
            missed,
            holders({one.ticket for one in listeners}),
            may_hear_of(list(events.values())),
            at_posts,
        )

    def _tell(self, listeners: Collection[Listener], found: _Round) -> None:
        for listener in listeners:
            person = found.holders.get(listener.ticket)
            if person is None:
                listener.end(NOT_LET_IN)
                continue
            events: Sequence[Told] | None = found.new
            if listener in found.missed:
                listener.has_begun = True
                listener.say(self._signal("hello") | {"version": VERSION})
                events = found.missed[listener]
            self._pass_on(listener, person, events, found.may_hear)
            if (pages := _others(listener, found.here)) != listener.told_here:
                listener.told_here = pages
                listener.say({"editing": [*told_to(person.pk, pages)]})

    def _pass_on(
        self,
        listener: Listener,
        person: Person,
        events: Sequence[Told] | None,
        may_hear: MayHear,
    ) -> None:
        heard = [
            event
            for event in events or ()
            if listener.post_id in (None, event.post_id) and may_hear(person, event)
        ]
        if events is None or len(heard) > MOST_AT_ONCE:
            listener.say(self._signal("reload"))
            return
        for event in heard:
            listener.say(message(event, person.pk))

    def _signal(self, name: str) -> JsonObject:
        """With the last event there is, which a page that comes again asks for what followed."""
        last = self._tail.last
        return {name: True, "last": str(last) if last else None}


def _others(listener: Listener, at_posts: Mapping[UUID, Sequence[Here]]) -> Sequence[Here]:
    """Who is at the post of a page; nobody for a page that follows no post."""
    return tuple(at_posts.get(listener.post_id, ())) if listener.post_id else ()


_hubs: dict[asyncio.AbstractEventLoop, tuple[Hub, asyncio.Task[None]]] = {}


def hub() -> Hub:
    """The hub of the running event loop; its task starts with the first page and ends with the last."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        made = Hub()
        # It begins when the caller waits, and has joined by then.
        _hubs[loop] = made, loop.create_task(_run(made, loop))
    return _hubs[loop][0]


async def _run(made: Hub, loop: asyncio.AbstractEventLoop) -> None:
    try:
        await made.run()
    finally:
        _hubs.pop(loop, None)
