"""Name servers are asked in threads of their own: one that does not answer holds up nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from ipaddress import ip_address
from threading import Thread
from typing import Final

from proofroom.core.http_client.address_guard import Address
from proofroom.core.http_client.results import Unreachable

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
