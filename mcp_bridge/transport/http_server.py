"""The HTTP server around the application: closes idle connections, and ends open streams at shutdown.

Uvicorn has no timeout for the head of a request; bodies have their own, in `request_checks`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

_LAST_PART: Final[Message] = {"type": "http.response.body", "body": b"", "more_body": False}
_END_SECONDS: Final = 0.5
"""Maximum seconds to finish a stream whose client does not read."""
_STOPPING_ANSWER: Final[Message] = {
    "type": "http.response.start",
    "status": 503,
    "headers": [(b"retry-after", b"5"), (b"content-length", b"0")],
}


class GracefulShutdown:
    """An application wrapper for a server that cancels open requests after its shutdown timeout."""

    def __init__(self, inner: ASGIApp) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = is_done = False

        async def noted(message: Message) -> None:
            nonlocal has_begun, is_done
            has_begun = has_begun or message["type"] == "http.response.start"
            is_last = message["type"] == "http.response.body" and not message.get(
                "more_body", False
            )
            is_done = is_done or is_last
            await send(message)

        try:
            await self.inner(scope, receive, noted)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
        # Some streams swallow the cancellation and leave their response open.
        if scope["type"] == "http" and not is_done:
            with suppress(OSError, RuntimeError), anyio.move_on_after(_END_SECONDS):
                if not has_begun:
                    await send(_STOPPING_ANSWER)
                await send(_LAST_PART)


HEAD_SECONDS = 20.0


class HeadTimeoutProtocol(HttpToolsProtocol):
    """Closes a connection whose next request head is not complete in time."""

    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # none before the first request
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.start_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.start_timer()

    def on_headers_complete(self) -> None:
        self.stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_timer()
        super().connection_lost(exc)

    def start_timer(self) -> None:
        self.stop_timer()
        self._timer = self.loop.call_later(HEAD_SECONDS, self.close_if_idle)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close_if_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:  # otherwise a response is pending
            self.transport.close()
