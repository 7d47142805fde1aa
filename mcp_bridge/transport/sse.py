"""The SSE transport of 2024-11-05: one stream for each session, and the messages its client posts.

The SDK's own transport blocks every answer until the previous one is read, without a timeout,
formats each message for its log, and calls the parameter `session_id`. A call that does nothing
takes it 1.4 ms of CPU.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

import anyio
import mcp.types as wire
import orjson
from anyio.abc import ObjectReceiveStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from mcp_bridge.access.principals import SCOPE_KEY
from mcp_bridge.access.tool_sets import CORE, QUERY_PARAMETER, asks_for_core
from mcp_bridge.error_responses import refusal
from mcp_bridge.protocol.tool_calls import WRITES_FRAGMENTS_KEY

UNREAD_SECONDS = 30.0
"""Seconds without reading after which a client counts as gone."""

FULL_SECONDS: Final = 0.5
"""Seconds without reading after which messages of the client are refused."""

MAX_UNREAD_BYTES: Final = 16 * 1024 * 1024
"""Maximum bytes of unread answers; beyond it messages are refused immediately."""

PING_SECONDS: Final = 15.0
"""Seconds between pings, because proxies may close silent streams."""
SESSION_PARAMETER: Final = "sessionId"
_CHECKS_PER_WAIT: Final = 3
_START: Final[Message] = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"connection", b"keep-alive"),
        # Keeps nginx from buffering the stream.
        (b"x-accel-buffering", b"no"),
    ],
}
_ACCEPTED: Final[tuple[Message, Message]] = (
    {"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"8")]},
    {"type": "http.response.body", "body": b"Accepted"},
)
Incoming = SessionMessage | Exception


class SseSession:
    """One session. `incoming`: messages of its client. The SDK uses the session as its write stream."""

    def __init__(self, session_id: str, owner: str, send: Send) -> None:
        self.id = session_id
        self.owner = owner
        self._send = send
        # Without a buffer, so that a client cannot post faster than its session reads.
        self._posted, incoming = anyio.create_memory_object_stream[Incoming](0)
        self.incoming: ObjectReceiveStream[Incoming] = incoming
        self._is_open = True
        # Answers are created concurrently but written one after another.
        self._turn = anyio.Lock(fast_acquire=True)
        self._waiting_since: float | None = None
        self._wrote_at = time.monotonic()
        self._unread_bytes = 0

    @property
    def seconds_unread(self) -> float:
        """Seconds the last write has been waiting for the client to read."""
        since = self._waiting_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def is_full(self) -> bool:
        """True if the client has to read before it may send more."""
        return self.seconds_unread > FULL_SECONDS or self._unread_bytes > MAX_UNREAD_BYTES

    async def take(self, message: SessionMessage) -> None:
        """Pass a message of the client to the session when it is ready; drop it if the session has ended."""
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._posted.send(message)

    async def send(self, message: SessionMessage, /) -> None:
        """Write a message of the server. Raises `ClosedResourceError` if the stream has ended."""
        await self.write(b"event: message\r\ndata: %b\r\n\r\n" % to_json(message.message))

    async def write(self, event: bytes) -> None:
        self._unread_bytes += len(event)
        try:
            async with self._turn:
                if not self._is_open:
                    raise anyio.ClosedResourceError
                self._waiting_since = time.monotonic()
                await self._send({"type": "http.response.body", "body": event, "more_body": True})
                self._waiting_since = None
                self._wrote_at = time.monotonic()
        finally:
            self._unread_bytes -= len(event)

    async def watch(self) -> None:
        """Send pings; return when the client has stopped reading."""
        while self.seconds_unread < UNREAD_SECONDS:
            await anyio.sleep(min(PING_SECONDS, UNREAD_SECONDS) / _CHECKS_PER_WAIT)
            if self._waiting_since is None and time.monotonic() - self._wrote_at >= PING_SECONDS:
                await self.write(b": ping\r\n\r\n")

    async def end(self) -> None:
        """Stop reading and writing."""
        self._is_open = False
        await self._posted.aclose()

    async def aclose(self) -> None:
        """Called by the SDK when it has no more to write."""
        self._is_open = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class SseTransport:
    """The open sessions of one server. Names, credentials and bodies are already checked."""

    def __init__(self, messages_path: str, new_session_id: Callable[[], str]) -> None:
        self._messages_path = messages_path
        self._new_session_id = new_session_id
        self._sessions: dict[str, SseSession] = {}

    @asynccontextmanager
    async def connect(
        self, scope: Scope, receive: Receive, send: Send
    ) -> AsyncIterator[SseSession]:
        """Open a session for the duration of the block. It stops accepting messages when its client is gone."""
        session = SseSession(self._new_session_id(), owner_of(scope), send)
        path = f"{scope.get('root_path', '').rstrip('/')}{self._messages_path}"
        await send(_START)
        # Messages are requests of their own, so that their address repeats the choice of the stream's.
        choice = f"&{QUERY_PARAMETER}={CORE}" if asks_for_core(scope["query_string"]) else ""
        address = f"{path}?{SESSION_PARAMETER}={session.id}{choice}"
        await session.write(f"event: endpoint\r\ndata: {address}\r\n\r\n".encode())
        self._sessions[session.id] = session

        async def end_after(left: Callable[[], Awaitable[None]]) -> None:
            await left()
            await session.end()

        async def hang_up() -> None:
            while (await receive())["type"] != "http.disconnect":
                continue

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(end_after, session.watch)
                tasks.start_soon(end_after, hang_up)
                yield session
                tasks.cancel_scope.cancel()
        finally:
            del self._sessions[session.id]
            await session.end()

    async def handle_message(
        self, session_id: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer a message posted to the session, and pass it on."""
        request = Request({**scope, WRITES_FRAGMENTS_KEY: True}, receive)
        session = self._sessions.get(session_id)
        if not request.headers.get("content-type", "").lower().startswith("application/json"):
            answer = refusal(400, "Invalid Content-Type header.", "bad_message")
        elif len(session_id) != len(uuid4().hex):
            answer = refusal(400, "Invalid session ID.", "bad_message")
        elif session is None or session.owner != owner_of(scope):
            # The same answer as for an unknown session, so that ids of others cannot be probed.
            answer = refusal(404, "Could not find session.", "not_found")
        elif session.is_full:
            answer = refusal(
                429,
                "Answers of this session wait to be read: read the stream, then go on.",
                "unread_answers",
                {"Retry-After": "1"},
            )
        else:
            try:
                message = wire.jsonrpc_message_adapter.validate_json(
                    await request.body(), by_name=False
                )
            except ValidationError:
                answer = refusal(400, "Could not parse message.", "bad_message")
            else:
                for part in _ACCEPTED:
                    await send(part)
                metadata = ServerMessageMetadata(request_context=request)
                await session.take(SessionMessage(message, metadata=metadata))
                return
        await answer(scope, receive, send)


def to_json(message: wire.JSONRPCMessage) -> bytes:
    """Return the message on the wire. Parts that are already JSON are copied."""
    if isinstance(message, wire.JSONRPCResponse) and isinstance(
        message.result.get("structuredContent"), orjson.Fragment
    ):
        # Ids may be integers beyond 64 bits, which orjson does not write.
        id_ = json.dumps(message.id, ensure_ascii=False).encode()
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id_, orjson.dumps(message.result))
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def owner_of(scope: Scope) -> str:
    """Return the credential of a request."""
    return str(scope[SCOPE_KEY].id)
