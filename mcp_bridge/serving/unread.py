"""Streams that nobody reads: their sessions take no more calls, and end, instead of answers heaping up.

The SDK holds every answer until the one before it was taken, for as long as that takes.
"""

from __future__ import annotations

import time
from typing import Final

import anyio
from starlette.types import Message, Receive, Send

UNREAD_SECONDS = 30.0
"""After so long without reading a client is taken for gone."""

FULL_SECONDS: Final = 0.5
"""From then on nothing more is taken from a client: what it asked is not read."""


class ReadStream:
    """One stream as its client reads it, between the server and the SDK."""

    def __init__(self, receive: Receive, send: Send, owner: str) -> None:
        self._receive, self._send, self.owner = receive, send, owner
        self._gone = anyio.Event()
        self._waiting_since: float | None = None

    @property
    def is_full(self) -> bool:
        since = self._waiting_since
        return since is not None and time.monotonic() - since > FULL_SECONDS

    async def send(self, message: Message) -> None:
        """Pass it on. A client that does not take it in time is gone: `receive` says so."""
        if self._gone.is_set():
            return
        self._waiting_since = time.monotonic()
        with anyio.move_on_after(UNREAD_SECONDS) as scope:
            await self._send(message)
        self._waiting_since = None
        if scope.cancelled_caught:
            self._gone.set()

    async def receive(self) -> Message:
        found: list[Message] = []

        async def real() -> None:
            found.append(await self._receive())
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(real)
            await self._gone.wait()
            group.cancel_scope.cancel()
        return found[0] if found else {"type": "http.disconnect"}
