"""Connections to a host: resolved once, judged, and opened to what was judged; a further call may use one again."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from threading import Thread
from typing import Final, cast

import certifi
import h11

from proofroom.core.errors import CmsError
from proofroom.core.http_client.address_guard import Address, CallTarget, refuse_addresses


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
MOST_BYTES: Final = 512 * 1024
"""Of one answer, on the wire, beyond what is read of its body: whoever sends 1xx without an end, or chunks of one
byte, is not heard out. The system hands over up to 256 KB at once."""


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
        self._most = MOST_BYTES
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

    def ask(self, request: h11.Request, body: bytes, *, max_bytes: int) -> None:
        """Hand a call to the system. It is not waited for: an answer may come before all of it was read."""
        self._busy, self._received = True, 0
        self._most = max_bytes + MOST_BYTES
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
        if self._received > self._most:
            raise Broken("it is more than an answer needs")
        if not data and self._http.their_state is h11.SEND_RESPONSE:
            raise Broken("the connection was closed")
        if self._transport is not None:
            self._transport.resume_reading()
        return data


MOST_AT_ONCE: Final = 64


class Names:
    """The questions that one client has open. Whoever asks for the same name meanwhile gets the same answer."""

    def __init__(self) -> None:
        self._asked: dict[str, asyncio.Future[list[Address]]] = {}

    async def addresses(self, host: str) -> list[Address]:
        """Every address of a host, in the system's order. Raises `Unreachable`."""
        future = self._asked.get(host)
        if future is None:
            future = self._ask(host)
        return await asyncio.shield(future)

    def _ask(self, host: str) -> asyncio.Future[list[Address]]:
        if len(self._asked) >= MOST_AT_ONCE:
            raise Unreachable("Too many name servers have not answered yet.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Address]] = loop.create_future()
        # Nobody may be left to hear that a name is unknown.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._asked[host] = future

        def ask() -> None:
            found: list[Address] | Exception
            try:
                rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                found = list(dict.fromkeys(ip_address(row[4][0]) for row in rows))
            except Exception:  # the caller waits, whatever the resolver raises
                found = Unreachable(f"The name {host} could not be resolved.")
            with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
                loop.call_soon_threadsafe(self._answer, host, future, found)

        # A daemon: the system gives up after half a minute, and the end of a process should not wait for it.
        Thread(target=ask, name="outgoing-names", daemon=True).start()
        return future

    def _answer(
        self, host: str, future: asyncio.Future[list[Address]], found: list[Address] | Exception
    ) -> None:
        self._asked.pop(host, None)
        if isinstance(found, Exception):
            future.set_exception(found)
        else:
            future.set_result(found)


CONNECT_SECONDS: Final = 3.0


@lru_cache(maxsize=1)
def trusted() -> ssl.SSLContext:
    """Certificates are checked against the machine's authorities, or the shipped ones where it has none."""
    known = ssl.get_default_verify_paths()
    context = ssl.create_default_context(
        cafile=None if known.cafile or known.capath else certifi.where()
    )
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(target: CallTarget, names: Names, tls: ssl.SSLContext) -> HttpConnection:
    """A connection to the first address that takes it. The certificate has to be that of the name.

    Raises `CallRefused` before any connection if one address is forbidden, `Unreachable` if none answers.
    """
    addresses = [target.literal] if target.literal else await names.addresses(target.host)
    refuse_addresses(target.host, addresses)
    end = asyncio.get_running_loop().time() + CONNECT_SECONDS
    failure = Unreachable(f"The name {target.host} has no address.")
    secure = target.scheme == "https"
    for place, address in enumerate(addresses):
        left = end - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(left / (len(addresses) - place)):
                _, line = await asyncio.get_running_loop().create_connection(
                    HttpConnection,
                    # The address, never the name: a second question could be answered otherwise.
                    str(address),
                    target.port,
                    ssl=tls if secure else None,
                    server_hostname=target.host if secure else None,
                )
                return line
        except (OSError, TimeoutError) as error:
            failure = Unreachable(_why(target.host, error))
    raise failure


def _why(host: str, error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} is not valid: {error.verify_message.rstrip('.')}."
    if isinstance(error, ssl.SSLError):
        return f"{host} does not speak TLS that this site could use."
    if isinstance(error, TimeoutError):
        return f"{host} did not take the connection within {CONNECT_SECONDS:g} s."
    if isinstance(error, ConnectionRefusedError):
        return f"{host} refused the connection."
    return f"{host} could not be connected to."
