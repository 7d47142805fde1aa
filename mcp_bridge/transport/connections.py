"""Open connections, and their end once the credential behind them opens nothing any more.

One task checks all that is open: a stream that nobody writes to would never notice.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import suppress
from contextvars import ContextVar
from typing import Final, Protocol

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_bridge.access.tokens import TokenHolder, still_authorized
from mcp_bridge.protocol.worker_threads import Workers
from mcp_bridge.transport.error_responses import CREDENTIAL_ENDED, refusal

logger = logging.getLogger("mcp_bridge")
CHECK_SECONDS: Final = 1.0
_END_SECONDS: Final = 0.5
"""How long the end of a stream may take where the client reads nothing."""

current_holder: ContextVar[TokenHolder] = ContextVar("mcp_holder")
"""Who sent the request that is being served."""


class Connection:
    """One request, from its first byte to the last of its answer."""

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
        """Finish the answer towards the client, then stop what is behind it; a thread finishes its work."""
        if self.has_ended:
            return
        self.has_ended = True
        # It may have ended, or nobody be there to be told.
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
    """All that is open in this process."""

    def __init__(self, workers: Workers, sessions: OpenSessions) -> None:
        self._workers = workers
        self._sessions = sessions
        self._open: set[Connection] = set()
        self._somebody = anyio.Event()
        self._is_failing = False

    @property
    def count(self) -> int:
        return len(self._open)

    async def serve(
        self, inner: ASGIApp, holder: TokenHolder, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """The request, until it is answered or its credential stops opening anything."""
        connection = Connection(holder, scope, receive, send)
        self._open.add(connection)
        self._somebody.set()
        try:
            await connection.serve(inner)
        finally:
            self._open.discard(connection)

    async def watch(self) -> None:
        """Look once a second; never while nothing is open."""
        while True:
            await self._somebody.wait()
            await anyio.sleep(CHECK_SECONDS)
            if not self.holders():
                self._somebody = anyio.Event()
                continue
            try:
                await self.end_unauthorized()
                self._is_failing = False
            except Exception:  # a database that is away for a moment ends no connection
                if not self._is_failing:
                    logger.exception("open MCP connections are not checked until this works again")
                self._is_failing = True

    def holders(self) -> set[TokenHolder]:
        here = {one.holder for one in self._open if not one.has_ended}
        return here | self._sessions.holders()

    async def end_unauthorized(self) -> None:
        """End what is open with a credential that opens nothing any more."""
        holders = self.holders()
        gone = holders - await self._workers.run_apart(still_authorized, holders)
        if not gone:
            return
        async with anyio.create_task_group() as tasks:
            for one in list(self._open):
                if one.holder in gone:
                    tasks.start_soon(one.end)
        await self._sessions.end(gone)
