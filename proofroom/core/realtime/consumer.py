"""The websocket of pages that hear of events."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs
from uuid import UUID

from proofroom.core.realtime.base_consumer import PageConsumer
from proofroom.core.realtime.event_hub import hubs
from proofroom.core.realtime.event_tail import After
from proofroom.core.realtime.listener import Listener
from proofroom.core.realtime.sessions import Ticket

_SECONDS: Final = re.compile(r"[0-9]{1,11}(\.[0-9]{1,6})?\Z", re.ASCII)


class EventsConsumer(PageConsumer[Listener]):
    """`/ws/events/`. `?post=` hears of one post only. `?after=` is told what was missed: since an event, by its id,
    or since a moment, in seconds since 1970.
    """

    permission: ClassVar[str] = "posts.view"
    hubs = hubs

    def page_of(self, ticket: Ticket) -> Listener:
        return Listener(ticket, *_wishes(self.scope["query_string"]))


def _wishes(query: bytes) -> tuple[UUID | None, After | None]:
    """Which post, and after what. Raises `ValueError` for what is neither."""
    given: dict[str, Any] = parse_qs(query.decode("ascii"), max_num_fields=10)
    post, after = given.get("post", [""])[0], given.get("after", [""])[0]
    return (UUID(post) if post else None), (_after(after) if after else None)


def _after(text: str) -> After:
    if _SECONDS.match(text):
        return datetime.fromtimestamp(float(text), UTC)
    return UUID(text)
