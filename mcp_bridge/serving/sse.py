"""The SSE transport of 2024-11-05 under the names of our endpoints: `sessionId`, not the SDK's
`session_id`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode

from mcp.server.sse import SseServerTransport
from starlette.types import Message, Receive, Scope, Send

from mcp_bridge.access.credentials import SCOPE_KEY
from mcp_bridge.serving.unread import ReadStream

OURS, THEIRS = "sessionId", "session_id"


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
                body = body.replace(f"?{THEIRS}=".encode(), f"?{OURS}=".encode(), 1)
                message = {**message, "body": body}
                session = body.partition(f"?{OURS}=".encode())[2].split()[0].decode()
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
        """Whether the caller's own session has answers that its client does not read."""
        stream = self._streams.get(session)
        return stream is not None and stream.owner == _owner(scope) and stream.is_full

    async def handle_post_message(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing else of the query: a session under their name would pass by the checks of ours.
        given = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        query = urlencode({THEIRS: given[OURS][0]})
        await super().handle_post_message({**scope, "query_string": query.encode()}, receive, send)


def _owner(scope: Scope) -> str:
    return str(scope[SCOPE_KEY].id)
