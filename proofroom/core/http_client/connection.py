"""Connections to a host: resolved once, checked, opened to a checked address, and possibly reused."""

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
    """A response. `headers` have lower-case names.

    `body` is what was received, up to the limit. `note` is the reason if it is incomplete.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    ms: int
    note: str = ""


class Unreachable(CmsError):
    """There was no response, because of the network, TLS or a timeout. A retry may succeed."""

    status = 502
    code = "unreachable"

    def __init__(self, reason: str, *, ms: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ms = ms


PAUSE_ABOVE: Final = 64 * 1024
LARGEST_HEAD: Final = 32 * 1024
MOST_BYTES: Final = 512 * 1024
"""Bytes of one response on the wire, beyond the limit of its body.

Stops servers that send endless 1xx responses or chunks of one byte. The system delivers up to 256 KB at once.
"""


class Broken(Exception):
    """The peer sent no response, or only a part. The message may be shown to users."""


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

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy:
            self.close()  # unexpected data would be taken for the response to the next call
        # A fast server must not fill the memory.
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

    # Called by the client.

    @property
    def is_usable(self) -> bool:
        """True if another call may be sent: the last one is complete on both sides, and no data arrived since."""
        return not (self._ended or self._buffer or self._transport is None) and (
            self._http.our_state is self._http.their_state is h11.IDLE
        )

    @property
    def has_heard(self) -> bool:
        """True if any data arrived since the call."""
        return self._received > 0

    def close(self) -> None:
        """Close without a TLS shutdown, because the peer may never answer it."""
        self._ended = True
        if self._transport is not None:
            self._transport.abort()

    def ask(self, request: h11.Request, body: bytes, *, max_bytes: int) -> None:
        """Send a request without waiting for it: the response may come before all of the request was read."""
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
        """Return status and headers. Raises `Broken`."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return event

    async def part(self) -> bytes | None:
        """Return the next part of the body; None at its end. Raises `Broken`."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Data):
                return bytes(event.data)
            if isinstance(event, h11.EndOfMessage):
                return None

    def finish(self, keep: float) -> None:
        """End the call. The connection stays open for `keep` seconds if both sides are done and no data is left."""
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
    """Pending DNS queries of one client. Concurrent queries for the same name share one answer."""

    def __init__(self) -> None:
        self._pending: dict[str, asyncio.Future[list[Address]]] = {}

    async def addresses(self, host: str) -> list[Address]:
        """Return all addresses of a host in the system's order. Raises `Unreachable`."""
        future = self._pending.get(host)
        if future is None:
            future = self._ask(host)
        # The timeout of one caller must not cancel the query for the others.
        return await asyncio.shield(future)

    def _ask(self, host: str) -> asyncio.Future[list[Address]]:
        if len(self._pending) >= MOST_AT_ONCE:
            raise Unreachable("Too many name servers have not answered yet.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Address]] = loop.create_future()
        # Retrieve the exception, because asyncio logs it if all callers have gone.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._pending[host] = future

        def ask() -> None:
            found: list[Address] | Exception
            try:
                rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                found = list(dict.fromkeys(ip_address(row[4][0]) for row in rows))
            except Exception:  # the caller must get an answer, whatever the resolver raises
                found = Unreachable(f"The name {host} could not be resolved.")
            with contextlib.suppress(RuntimeError):  # the loop may have ended
                loop.call_soon_threadsafe(self._answer, host, future, found)

        # A daemon thread, because the resolver may take half a minute and must not delay the end of
        # the process.
        Thread(target=ask, name="outgoing-names", daemon=True).start()
        return future

    def _answer(
        self, host: str, future: asyncio.Future[list[Address]], found: list[Address] | Exception
    ) -> None:
        self._pending.pop(host, None)
        if isinstance(found, Exception):
            future.set_exception(found)
        else:
            future.set_result(found)


CONNECT_SECONDS: Final = 3.0


@lru_cache(maxsize=1)
def trusted() -> ssl.SSLContext:
    """Return a context that trusts the machine's certificate authorities, or the shipped ones if it has none."""
    known = ssl.get_default_verify_paths()
    context = ssl.create_default_context(
        cafile=None if known.cafile or known.capath else certifi.where()
    )
    # h11 has no HTTP/2.
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(target: CallTarget, names: Names, tls: ssl.SSLContext) -> HttpConnection:
    """Connect to the first address that accepts. The certificate must match the name.

    Raises `CallRefused` before connecting if any address is forbidden, and `Unreachable` if none accepts.
    """
    addresses = [target.literal] if target.literal else await names.addresses(target.host)
    refuse_addresses(target.host, addresses)
    end = asyncio.get_running_loop().time() + CONNECT_SECONDS
    failure = Unreachable(f"The name {target.host} has no address.")
    secure = target.scheme == "https"
    for place, address in enumerate(addresses):
        left = end - asyncio.get_running_loop().time()
        try:
            # Each address gets an equal share of the remaining time.
            async with asyncio.timeout(left / (len(addresses) - place)):
                _, line = await asyncio.get_running_loop().create_connection(
                    HttpConnection,
                    # The address instead of the name: a second DNS query could return another
                    # address.
                    str(address),
                    target.port,
                    ssl=tls if secure else None,
                    server_hostname=target.host if secure else None,
                )
                return line
        except (OSError, TimeoutError) as error:
            failure = Unreachable(_connect_error(target.host, error))
    raise failure


def _connect_error(host: str, error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} is not valid: {error.verify_message.rstrip('.')}."
    if isinstance(error, ssl.SSLError):
        return f"{host} does not speak TLS that this site could use."
    if isinstance(error, TimeoutError):
        return f"{host} did not take the connection within {CONNECT_SECONDS:g} s."
    if isinstance(error, ConnectionRefusedError):
        return f"{host} refused the connection."
    return f"{host} could not be connected to."
