"""Connections on which nobody asks: closed, since each takes one of the few that a process may have.

The HTTP server waits without an end for the head of a request; bodies have their own time, in `gate`.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEAD_SECONDS = 20.0


class HeadsInTime(HttpToolsProtocol):
    """Closes a connection whose next request has no whole head in time."""

    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # none before the first request
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        self._expect_nothing()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._expect_nothing()
        self._late = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _expect_nothing(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:  # else an answer is under way
            self.transport.close()
