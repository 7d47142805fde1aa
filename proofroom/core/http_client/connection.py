"""One connection of a call: bytes out, bytes in, what became of it, and whether another call may use it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

import h11

from proofroom.core.errors import CmsError


@dataclass(frozen=True, slots=True)
class HttpResult:
    """Somebody answered. `headers` have names in lower case.

    `body` is what came of it, up to the limit; `note` says why it is not whole, where it is not.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    ms: int
    note: str = ""


class CallRefused(CmsError):
    """The rules forbid this call, now and later."""

    status = 422
    code = "outgoing_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unreachable(CmsError):
    """Nobody answered: the network, TLS, or the time. Another try may go better."""

    status = 502
    code = "unreachable"

    def __init__(self, reason: str, *, ms: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ms = ms


PAUSE_ABOVE: Final = 64 * 1024
LARGEST_HEAD: Final = 32 * 1024
MOST_BYTES: Final = 256 * 1024
"""Of one answer, on the wire: whoever sends 1xx without an end, or chunks of one byte, is not heard out."""


class Broken(Exception):
    """The peer sent no answer, or broke it off. The text may be shown."""


class HttpConnection(asyncio.Protocol):
    """HTTP/1.1 over one connection, one call at a time."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._ended = False
        self._busy = False
        self._received = 0
        self._waiter: asyncio.Future[None] | None = None
        self._expiry: asyncio.TimerHandle | None = None

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy:
            self.close()  # nobody asked: it would be taken for the answer to the next call
        elif self._transport is not None and len(self._buffer) > PAUSE_ABOVE:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the client does.

    @property
    def is_usable(self) -> bool:
        """Whether a further call may be sent: the last one is over on both sides, and nothing came since."""
        return not (self._ended or self._buffer or self._transport is None) and (
            self._http.our_state is self._http.their_state is h11.IDLE
        )

    @property
    def has_heard(self) -> bool:
        """Whether anything came since the call."""
        return self._received > 0

    def close(self) -> None:
        """At once: who is at the other end may never agree to a polite end."""
        self._ended = True
        if self._transport is not None:
            self._transport.abort()

    def ask(self, request: h11.Request, body: bytes) -> None:
        """Hand a call to the system. It is not waited for: an answer may come before all of it was read."""
        self._busy, self._received = True, 0
        if self._expiry is not None:
            self._expiry.cancel()
        data = [
            self._http.send(request),
            self._http.send(h11.Data(data=body)),
            self._http.send(h11.EndOfMessage()),
        ]
        if self._transport is not None:
            self._transport.write(b"".join(part for part in data if part))

    async def head(self) -> h11.Response:
        """Status and headers. Raises `Broken`."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return event

    async def part(self) -> bytes | None:
        """The next part of the body; none at its end. Raises `Broken`."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Data):
                return bytes(event.data)
            if isinstance(event, h11.EndOfMessage):
                return None

    def finish(self, keep: float) -> None:
        """The answer was read, or given up. Kept that long if both sides are done and nothing is left over."""
        self._busy = False
        done = self._http.our_state is self._http.their_state is h11.DONE
        if not done or self._ended or self._buffer or self._http.trailing_data != (b"", False):
            self.close()
            return
        self._http.start_next_cycle()
        self._expiry = asyncio.get_running_loop().call_later(keep, self.close)

    async def _event(self) -> h11.Event | type[h11.PAUSED]:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self._read())
        except h11.RemoteProtocolError as error:
            cut_off = self._http.trailing_data[1]
            why = "the connection was closed" if cut_off else "the answer is not well-formed HTTP"
            raise Broken(why) from error
        if isinstance(event, h11.ConnectionClosed):
            raise Broken("the connection was closed")
        return cast("h11.Event | type[h11.PAUSED]", event)

    async def _read(self) -> bytes:
        while not self._buffer and not self._ended:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data = bytes(self._buffer)
        self._buffer.clear()
        self._received += len(data)
        if self._received > MOST_BYTES:
            raise Broken("it is more than an answer needs")
        if not data and self._http.their_state is h11.SEND_RESPONSE:
            raise Broken("the connection was closed")
        if self._transport is not None:
            self._transport.resume_reading()
        return data
