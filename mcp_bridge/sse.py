"""The SSE transport of 2024-11-05 under the names of our endpoints: `sessionId`, not the SDK's
`session_id`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode

from mcp.server.sse import SseServerTransport
from starlette.types import Message, Receive, Scope, Send

MAX_SESSIONS = 1000
OURS, THEIRS = "sessionId", "session_id"


class SessionIdSseTransport(SseServerTransport):
    """The SDK's transport with all its checks; only the name of the parameter differs, both ways.

    `open_sessions` counts the streams; the SDK sets them no limit.
    """

    open_sessions = 0

    @asynccontextmanager
    async def connect_sse(self, scope: Scope, receive: Receive, send: Send) -> AsyncIterator[Any]:
        advertised = False

        async def renamed(message: Message) -> None:
            nonlocal advertised
            body = message.get("body", b"")
            if not advertised and b"event: endpoint" in body:
                advertised = True
                body = body.replace(f"?{THEIRS}=".encode(), f"?{OURS}=".encode(), 1)
                message = {**message, "body": body}
            await send(message)

        self.open_sessions += 1
        try:
            async with super().connect_sse(scope, receive, renamed) as streams:
                yield streams
        finally:
            self.open_sessions -= 1

    async def handle_post_message(self, scope: Scope, receive: Receive, send: Send) -> None:
        pairs = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        query = urlencode([(THEIRS if key == OURS else key, value) for key, value in pairs])
        await super().handle_post_message({**scope, "query_string": query.encode()}, receive, send)
