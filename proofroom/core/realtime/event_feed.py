"""The events that open pages are notified of, and their websocket."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs
from uuid import UUID

from proofroom.core.actor import ActorUser
from proofroom.core.json import JsonObject
from proofroom.core.outbox.events import EVENTS_CHANNEL
from proofroom.core.realtime.event_tail import MAX_EVENTS_KEPT, After, Tail
from proofroom.core.realtime.hub import NOT_FOUND, Feed, OpenPage
from proofroom.core.realtime.messages import (
    PRESENCE_CHANNEL,
    EventMessage,
    OpenEditor,
    find_outside,
    may_hear_of,
    message,
    open_editors_of,
    presence_message,
)
from proofroom.core.realtime.sessions import PageConnection
from proofroom.core.realtime.websockets import PageConsumer


class EventPage(OpenPage):
    """A page that follows one post or all posts. `after` is the last event it received."""

    def __init__(
        self, connection: PageConnection, post_id: UUID | None, after: After | None
    ) -> None:
        super().__init__(connection)
        self.post_id = post_id
        self.after = after
        self.has_begun = False
        self.editors: Sequence[OpenEditor] = ()


MAX_EVENTS_PER_TURN: Final = 50
"""Events sent one by one. With more, the page gets a message to reload."""
PING_SECONDS: Final = 20.0
VERSION: Final = 1
"""Version of the messages."""


class EventFeed(Feed[EventPage]):
    """Sends events to pages, filtered by each user's permissions, and presence to pages of posts.

    Runs one query, one more if pages of posts are open, and to send something the queries of each visibility rule and
    two per scope that limits a recipient.
    """

    channels = (EVENTS_CHANNEL, PRESENCE_CHANNEL)
    most_pages: ClassVar[int] = 5000
    most_pages_of_one: ClassVar[int] = 100

    def __init__(self) -> None:
        super().__init__()
        self._tail = Tail()
        # Events that were read but not sent yet. They stay here if the database fails before the
        # turn is complete.
        self._new: deque[EventMessage] = deque(maxlen=MAX_EVENTS_KEPT)
        self._backlogs: dict[EventPage, list[EventMessage] | None] = {}
        self._editors: Mapping[UUID, Sequence[OpenEditor]] = {}
        self._may_hear = may_hear_of((), ())
        self._is_outside = find_outside((), ())
        self._ping_at = time.monotonic() + PING_SECONDS

    def read(self, pages: Sequence[EventPage]) -> Collection[EventPage]:
        self._new.extend(self._tail.read())
        self._backlogs = {
            page: self._tail.behind(page.after) for page in pages if not page.has_begun
        }
        self._editors = open_editors_of(
            {page.post_id for page in pages if page.post_id is not None}
        )
        posts = {None, *(event.post_id for event in self._new)} if self._new else set()
        return [
            page
            for page in pages
            if page.post_id in posts
            or page in self._backlogs
            or self._editors_at(page) != page.editors
        ]

    def load_details(self, pages: Mapping[EventPage, ActorUser]) -> None:
        events = {event.uid: event for event in self._new}
        for some in self._backlogs.values():
            events |= {event.uid: event for event in some or ()}
        self._may_hear = may_hear_of(list(events.values()), pages.values())
        followed = {page.post_id for page in pages if page.post_id is not None}
        self._is_outside = find_outside(followed, pages.values())

    def tell(self, pages: Mapping[EventPage, ActorUser]) -> None:
        for page, person in pages.items():
            with self.close_on_error(page):
                self._notify_page(page, person)
        self._new.clear()
        if time.monotonic() >= self._ping_at:
            self._ping_at = time.monotonic() + PING_SECONDS
            for page in self.pages:
                page.say(self._signal("ping"))

    def _notify_page(self, page: EventPage, person: ActorUser) -> None:
        if page.post_id is not None and self._is_outside(person, page.post_id):
            page.end(NOT_FOUND)
            return
        events: Sequence[EventMessage] | None = self._new
        if page in self._backlogs:
            page.has_begun = True
            page.say(self._signal("hello") | {"version": VERSION})
            events = self._backlogs[page]
        visible = [
            event
            for event in events or ()
            if page.post_id in (None, event.post_id) and self._may_hear(person, event)
        ]
        if events is None or len(visible) > MAX_EVENTS_PER_TURN:
            page.say(self._signal("reload"))
        else:
            for event in visible:
                page.say(message(event, person.pk))
        if (editors := self._editors_at(page)) != page.editors:
            page.editors = editors
            page.say({"editing": [*presence_message(person.pk, editors)]})

    def _signal(self, name: str) -> JsonObject:
        """Return a message with the id of the last event, from which a page can resume after reconnecting."""
        last = self._tail.last
        return {name: True, "last": str(last) if last else None}

    def _editors_at(self, page: EventPage) -> Sequence[OpenEditor]:
        """Return the editors of a page's post; empty for a page without a post."""
        return tuple(self._editors.get(page.post_id, ())) if page.post_id else ()


_SECONDS: Final = re.compile(r"[0-9]{1,11}(\.[0-9]{1,6})?\Z", re.ASCII)


class EventsConsumer(PageConsumer[EventPage]):
    """`/ws/events/`.

    `?post=` follows one post only. `?after=` resumes after an event id, or after a time in Unix seconds.
    """

    permission: ClassVar[str] = "posts.view"
    feed = EventFeed

    def page_of(self, connection: PageConnection) -> EventPage:
        given: dict[str, Any] = parse_qs(
            self.scope["query_string"].decode("ascii"), max_num_fields=10
        )
        post, text = given.get("post", [""])[0], given.get("after", [""])[0]
        after: After | None = None
        if _SECONDS.match(text):
            after = datetime.fromtimestamp(float(text), UTC)
        elif text:
            after = UUID(text)
        return EventPage(connection, UUID(post) if post else None, after)
