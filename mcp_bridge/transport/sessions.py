"""Open sessions and connections of both HTTP transports: their limits, and their end with the credential."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, Protocol

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.access.token_holders import TokenHolder
from mcp_bridge.access.tokens import still_authorized
from mcp_bridge.error_responses import CREDENTIAL_ENDED, refusal
from mcp_bridge.worker_threads import Workers

logger = logging.getLogger("mcp_bridge")
CHECK_SECONDS: Final = 1.0
_END_SECONDS: Final = 0.5
"""Maximum seconds to finish a stream whose client does not read."""

current_holder: ContextVar[TokenHolder] = ContextVar("mcp_holder")
"""The holder of the request being served."""


class Connection:
    """One request, from its first byte to the last of its response."""

    def __init__(self, holder: TokenHolder, scope: Scope, receive: Receive, send: Send) -> None:
        self.holder = holder
        self.has_ended = False
        self._asgi = scope, receive, send
        self._cancelled = anyio.CancelScope()
        self._has_begun = self._is_done = False

    async def serve(self, inner: ASGIApp) -> None:
        scope, receive, _ = self._asgi
        current_holder.set(self.holder)
        with self._cancelled:
            await inner(scope, receive, self.send)

    async def end(self) -> None:
        """Finish the response to the client, then cancel the application. A thread finishes its work."""
        if self.has_ended:
            return
        self.has_ended = True
        # The connection may have ended, or the client may not read.
        with suppress(OSError, RuntimeError), anyio.move_on_after(_END_SECONDS):
            scope, receive, send = self._asgi
            if not self._has_begun:
                await refusal(401, CREDENTIAL_ENDED, "not_authenticated")(scope, receive, send)
            elif not self._is_done:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        self._cancelled.cancel()

    async def send(self, message: Message) -> None:
        if self.has_ended:
            return
        if message["type"] == "http.response.start":
            self._has_begun = True
        elif not message.get("more_body", False):
            self._is_done = True
        await self._asgi[2](message)


class OpenSessions(Protocol):
    """Sessions that stay open between requests."""

    def holders(self) -> set[TokenHolder]: ...

    async def end(self, holders: Collection[TokenHolder]) -> None: ...


class Connections:
    """All open connections of this process."""

    def __init__(self, workers: Workers, sessions: OpenSessions, access: ServerAccess) -> None:
        self._workers = workers
        self._sessions = sessions
        self._access = access
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open: set[Connection] = set()
        self._somebody = anyio.Event()
        self._changed = anyio.Event()
        self._is_failing = False

    @property
    def count(self) -> int:
        return len(self._open)

    async def serve(
        self, inner: ASGIApp, holder: TokenHolder, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve the request until it is answered or its credential ends."""
        connection = Connection(holder, scope, receive, send)
        self._open.add(connection)
        self._somebody.set()
        try:
            await connection.serve(inner)
        finally:
            self._open.discard(connection)

    async def watch(self) -> None:
        """Check credentials once a second and after changes, while anything is open."""
        self._loop = asyncio.get_running_loop()
        while True:
            await self._somebody.wait()
            with anyio.move_on_after(CHECK_SECONDS):
                await self._changed.wait()
            self._changed = anyio.Event()
            if not self.holders():
                self._somebody = anyio.Event()
                continue
            try:
                await self.end_unauthorized()
                self._is_failing = False
            except Exception:  # a short database outage must not end connections
                if not self._is_failing:
                    logger.exception("open MCP connections are not checked until this works again")
                self._is_failing = True

    def look_soon(self) -> None:
        """Trigger a check, from another thread, because a credential may have ended."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop and the server have ended
                # A lambda, because `_changed` is replaced after each check.
                loop.call_soon_threadsafe(lambda: self._changed.set())

    def holders(self) -> set[TokenHolder]:
        here = {one.holder for one in self._open if not one.has_ended}
        return here | self._sessions.holders()

    async def end_unauthorized(self) -> None:
        """End all connections and sessions whose credential is not valid any more."""
        holders = self.holders()
        gone = holders - await self._workers.run_apart(still_authorized, holders)
        if not gone:
            return
        self._access.forget()
        async with anyio.create_task_group() as tasks:
            for one in list(self._open):
                if one.holder in gone:
                    tasks.start_soon(one.end)
        await self._sessions.end(gone)


MAX_SESSIONS = 1000
MAX_SESSIONS_PER_CREDENTIAL = 600
"""Lower than `MAX_SESSIONS`, so that one credential cannot take all of them."""
IDLE_SECONDS = 30 * 60
"""Idle timeout of a Streamable HTTP session in seconds; an SSE session lives as long as its connection."""
_RETRY_SECONDS: Final = "30"


class SessionCounter:
    """The number of open sessions by credential."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        return self._open.total()

    def refuse_if_full(self, holder: TokenHolder) -> JSONResponse | None:
        """Return the error for another session of the holder if there is no room for it."""
        if self._open[holder.principal.id] >= MAX_SESSIONS_PER_CREDENTIAL:
            reason = f"{MAX_SESSIONS_PER_CREDENTIAL} sessions of this credential are open already"
            return _refuse_session(429, reason)
        if self.count >= MAX_SESSIONS:
            return _refuse_session(503, f"{MAX_SESSIONS} sessions are open already")
        return None

    def add(self, holder: TokenHolder) -> None:
        self._open[holder.principal.id] += 1

    def remove(self, holder: TokenHolder) -> None:
        self._open[holder.principal.id] -= 1
        self._open += Counter()  # remove zero counts

    @contextmanager
    def count_session(self, holder: TokenHolder) -> Iterator[None]:
        """Count a session for the duration of the block."""
        self.add(holder)
        try:
            yield
        finally:
            self.remove(holder)


def _refuse_session(status: int, said: str) -> JSONResponse:
    error = f"{said}; close one or try again later."
    return refusal(status, error, "too_many_sessions", {"Retry-After": _RETRY_SECONDS})


class StreamableSessions(StreamableHTTPSessionManager):
    """The SDK's sessions, counted, and ended together with their credential.

    The SDK calls `_admit_session` for each new session and `_discard_session` at every end of one.
    """

    def __init__(
        self, counter: SessionCounter, new_session_id: Callable[[], str], **given: Any
    ) -> None:
        # The SDK mentions its limit in the log of a refusal; the counter enforces the real one.
        most = max(1, MAX_SESSIONS)
        super().__init__(max_sessions=most, session_idle_timeout=IDLE_SECONDS, **given)
        self._counter = counter
        self._new_session_id = new_session_id
        self._holders: dict[str, TokenHolder] = {}

    def holders(self) -> set[TokenHolder]:
        """Return the holders of the open sessions."""
        return set(self._holders.values())

    async def end(self, holders: Collection[TokenHolder]) -> None:
        """End the sessions of these holders. A call in a thread finishes its work."""
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
            # The SDK's ids are random; ours contain the key of the process.
            sdk_id, session_id = transport.mcp_session_id, self._new_session_id()
            transport.mcp_session_id = session_id
            self._server_instances[session_id] = self._server_instances.pop(sdk_id)
            if sdk_id in self._session_owners:
                self._session_owners[session_id] = self._session_owners.pop(sdk_id)
            self._holders[session_id] = holder
            self._counter.add(holder)
        return transport

    async def _discard_session(
        self, session_id: str, transport: StreamableHTTPServerTransport
    ) -> None:
        holder = self._holders.pop(session_id, None)
        if holder is not None:
            self._counter.remove(holder)
        await super()._discard_session(session_id, transport)
