"""Limits on open sessions, in all and per credential, over both HTTP transports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import JSONResponse

from mcp_bridge.access.tokens import TokenHolder
from mcp_bridge.transport.error_responses import refusal
from mcp_bridge.transport.sessions import current_holder

MAX_SESSIONS = 1000
MAX_SESSIONS_PER_CREDENTIAL = 600
"""One credential leaves room for the others."""
IDLE_SECONDS = 30 * 60
"""A Streamable HTTP session that nobody asks anything is over; an SSE session lives as long as its connection."""
_RETRY_SECONDS: Final = "30"


class SessionCounter:
    """The sessions that are open, by credential."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        return self._open.total()

    def refuse_if_full(self, holder: TokenHolder) -> JSONResponse | None:
        """The answer to one more session of the holder's where there is no room for it."""
        if self._open[holder.principal.id] >= MAX_SESSIONS_PER_CREDENTIAL:
            said = f"{MAX_SESSIONS_PER_CREDENTIAL} sessions of this credential are open already"
            return _refuse_session(429, said)
        if self.count >= MAX_SESSIONS:
            return _refuse_session(503, f"{MAX_SESSIONS} sessions are open already")
        return None

    def add(self, holder: TokenHolder) -> None:
        self._open[holder.principal.id] += 1

    def remove(self, holder: TokenHolder) -> None:
        self._open[holder.principal.id] -= 1
        self._open += Counter()  # forget who has none

    @contextmanager
    def count_session(self, holder: TokenHolder) -> Iterator[None]:
        """A session that is open for the length of the block."""
        self.add(holder)
        try:
            yield
        finally:
            self.remove(holder)


def _refuse_session(status: int, said: str) -> JSONResponse:
    error = f"{said}; close one or try again later."
    return refusal(status, error, "too_many_sessions", {"Retry-After": _RETRY_SECONDS})


class StreamableSessions(StreamableHTTPSessionManager):
    """The SDK's sessions, counted in the counter, and ended when their credential is.

    The SDK asks `_admit_session` for each new session and calls `_discard_session` at the end of each, however it
    ends.
    """

    def __init__(self, counter: SessionCounter, **given: Any) -> None:
        # The SDK names its limit in the log where a session is refused; the counter's is the one that counts.
        most = max(1, MAX_SESSIONS)
        super().__init__(max_sessions=most, session_idle_timeout=IDLE_SECONDS, **given)
        self._counter = counter
        self._holders: dict[str, TokenHolder] = {}

    def holders(self) -> set[TokenHolder]:
        """Return the holders of the open sessions."""
        return set(self._holders.values())

    async def end(self, holders: Collection[TokenHolder]) -> None:
        """End the sessions of these; a call that works in a thread finishes its work."""
        for session_id, holder in list(self._holders.items()):
            transport = self._server_instances.get(session_id)
            if holder in holders and transport is not None:
                await self._discard_session(session_id, transport)

    def _admit_session(
        self, requestor: AuthorizationContext | None
    ) -> StreamableHTTPServerTransport | None:
        holder = current_holder.get()
        if self._counter.refuse_if_full(holder) is not None:
            return None
        transport = super()._admit_session(requestor)
        if transport is not None and transport.mcp_session_id is not None:
            self._holders[transport.mcp_session_id] = holder
            self._counter.add(holder)
        return transport

    async def _discard_session(
        self, session_id: str, transport: StreamableHTTPServerTransport
    ) -> None:
        holder = self._holders.pop(session_id, None)
        if holder is not None:
            self._counter.remove(holder)
        await super()._discard_session(session_id, transport)
