"""The SSE transport of 2024-11-05, with `sessionId` instead of the SDK's `session_id`, and with an end for streams
that nobody reads.

The SDK holds every answer until the one before it was taken, for as long as that takes.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import anyio
from mcp.server.sse import SseServerTransport
from starlette.types import Message, Receive, Scope, Send

from mcp_bridge.access.principals import SCOPE_KEY

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


SESSION_PARAMETER, SDK_SESSION_PARAMETER = "sessionId", "session_id"


class SessionIdSseTransport(SseServerTransport):
    """The SDK's transport with all its checks; only the name of the parameter differs, both ways.

    `open_sessions` counts the streams; the SDK sets them no limit.
    """

    open_sessions = 0

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self._streams: dict[str, ReadStream] = {}

    @asynccontextmanager
    async def connect_sse(self, scope: Scope, receive: Receive, send: Send) -> AsyncIterator[Any]:
        session = ""
        stream = ReadStream(receive, send, _owner(scope))

        async def renamed(message: Message) -> None:
            nonlocal session
            body = message.get("body", b"")
            if not session and b"event: endpoint" in body:
                body = body.replace(
                    f"?{SDK_SESSION_PARAMETER}=".encode(), f"?{SESSION_PARAMETER}=".encode(), 1
                )
                message = {**message, "body": body}
                session = body.partition(f"?{SESSION_PARAMETER}=".encode())[2].split()[0].decode()
                self._streams[session] = stream
            await stream.send(message)

        self.open_sessions += 1
        try:
            async with super().connect_sse(scope, stream.receive, renamed) as streams:
                yield streams
        finally:
            self.open_sessions -= 1
            self._streams.pop(session, None)

    def is_full(self, scope: Scope, session: str) -> bool:
        """Return whether the caller's own session has answers that its client does not read."""
        stream = self._streams.get(session)
        return stream is not None and stream.owner == _owner(scope) and stream.is_full

    async def handle_post_message(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing else of the query: a session under their name would pass by the checks of ours.
        given = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        query = urlencode({SDK_SESSION_PARAMETER: given[SESSION_PARAMETER][0]})
        await super().handle_post_message({**scope, "query_string": query.encode()}, receive, send)


def _owner(scope: Scope) -> str:
    return str(scope[SCOPE_KEY].id)
