"""The websocket of open pages. Pages only listen: whoever sends something is disconnected."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs
from uuid import UUID

from channels.generic.websocket import AsyncJsonWebsocketConsumer

from core.live.holders import ticket_of
from core.live.hub import Hub, hub
from core.live.listener import BAD_REQUEST, NOT_LET_IN, TOO_MANY, Listener
from core.live.tail import After

_SECONDS: Final = re.compile(r"[0-9]{1,11}(\.[0-9]{1,6})?\Z", re.ASCII)


class EventsConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """`/ws/events/`. `?post=` hears of one post only. `?after=` is told what was missed: since an event, by its id,
    or since a moment, in seconds since 1970.
    """

    permission: ClassVar[str] = "posts.view"
    _hub: Hub | None = None
    _listener: Listener | None = None
    _sending: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        ticket = ticket_of(self.scope, self.permission)
        if ticket is None:
            await self.close(NOT_LET_IN)
            return
        try:
            listener = Listener(ticket, *_wishes(self.scope["query_string"]))
        except ValueError:
            await self.close(BAD_REQUEST)
            return
        here = hub()
        if not here.join(listener):
            await self.close(TOO_MANY)
            return
        self._hub, self._listener = here, listener
        await self.accept()
        self._sending = asyncio.create_task(self._send_all(listener))

    async def receive(self, *args: object, **kwargs: object) -> None:
        self._leave()
        if self._listener is not None:
            self._listener.end(BAD_REQUEST)

    async def disconnect(self, code: int) -> None:
        self._leave()
        if self._sending is not None:
            self._sending.cancel()

    def _leave(self) -> None:
        if self._hub is not None and self._listener is not None:
            self._hub.leave(self._listener)

    async def _send_all(self, listener: Listener) -> None:
        with suppress(OSError):  # the page is gone; the server says so in a message of its own
            # Waits while the page takes nothing; what is said meanwhile fills the queue, and no more.
            while isinstance(message := await listener.queue.get(), dict):
                await self.send_json(message)
            await self.close(message)


def _wishes(query: bytes) -> tuple[UUID | None, After | None]:
    """Which post, and after what. Raises `ValueError` for what is neither."""
    given: dict[str, Any] = parse_qs(query.decode("ascii"), max_num_fields=10)
    post, after = given.get("post", [""])[0], given.get("after", [""])[0]
    return (UUID(post) if post else None), (_after(after) if after else None)


def _after(text: str) -> After:
    if _SECONDS.match(text):
        return datetime.fromtimestamp(float(text), UTC)
    return UUID(text)
