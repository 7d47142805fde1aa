"""Connects to a host: resolved once in threads of its own, judged, and connected to what was judged."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from functools import lru_cache
from ipaddress import ip_address
from threading import Thread
from typing import Final

import certifi

from proofroom.core.http_client.address_guard import Address, refuse_addresses
from proofroom.core.http_client.connection import HttpConnection, Unreachable
from proofroom.core.http_client.targets import CallTarget

MOST_AT_ONCE: Final = 64
_Found = list[Address] | Exception


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
            found = _look_up(host)
            with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
                loop.call_soon_threadsafe(self._answer, host, future, found)

        # A daemon: the system gives up after half a minute, and the end of a process should not wait for it.
        Thread(target=ask, name="outgoing-names", daemon=True).start()
        return future

    def _answer(self, host: str, future: asyncio.Future[list[Address]], found: _Found) -> None:
        self._asked.pop(host, None)
        if isinstance(found, Exception):
            future.set_exception(found)
        else:
            future.set_result(found)


def _look_up(host: str) -> _Found:
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ip_address(row[4][0]) for row in rows))
    except (OSError, ValueError):
        return Unreachable(f"The name {host} could not be resolved.")


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

    Raises `Refused` before any connection if one address is forbidden, `Unreachable` if none answers.
    """
    addresses = [target.literal] if target.literal else await names.addresses(target.host)
    refuse_addresses(target.host, addresses)
    end = asyncio.get_running_loop().time() + CONNECT_SECONDS
    failure = Unreachable(f"The name {target.host} has no address.")
    for place, address in enumerate(addresses):
        left = end - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(left / (len(addresses) - place)):
                return await _open(target, address, tls)
        except (OSError, TimeoutError) as error:
            failure = Unreachable(_why(target.host, error))
    raise failure


async def _open(target: CallTarget, address: Address, tls: ssl.SSLContext) -> HttpConnection:
    secure = target.scheme == "https"
    _, line = await asyncio.get_running_loop().create_connection(
        HttpConnection,
        # The address, never the name: a second question could be answered otherwise.
        str(address),
        target.port,
        ssl=tls if secure else None,
        server_hostname=target.host if secure else None,
    )
    return line


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
