"""A round-robin load balancer without sticky sessions or connections."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count

_LENGTH = re.compile(rb"(?im)^content-length:\s*(\d+)")
_CONNECTION = re.compile(rb"(?im)^connection:[^\r\n]*\r\n")


class Balancer:
    """`url` without a path. `taken`: number of requests per server."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports = list(ports)
        self.taken = [0 for _ in ports]
        self.url = ""
        self._turn = count()

    async def listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            found = _LENGTH.search(head)
            body = await reader.readexactly(int(found[1]) if found else 0)
            head = _CONNECTION.sub(b"", head).replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
            answers, asks = await self._connect()
            asks.write(head + body)
            gone = asyncio.create_task(reader.read())
            passed = asyncio.create_task(self._copy(answers, writer))
            await asyncio.wait([gone, passed], return_when=asyncio.FIRST_COMPLETED)
            for task in (gone, passed):
                task.cancel()
            asks.close()
        writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the next server that accepts."""
        turn = next(self._turn)
        for place in ((turn + step) % len(self.ports) for step in range(len(self.ports))):
            with suppress(OSError):
                found = await asyncio.open_connection("127.0.0.1", self.ports[place])
                self.taken[place] += 1
                return found
        raise OSError("no server is there")

    @staticmethod
    async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while part := await source.read(65536):
            target.write(part)
            await target.drain()


@contextmanager
def balanced(ports: Sequence[int]) -> Iterator[Balancer]:
    balancer = Balancer(ports)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(balancer.listen())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield balancer
    finally:

        async def stop() -> None:
            server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
