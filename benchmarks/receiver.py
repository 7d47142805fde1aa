"""`python -m benchmarks.receiver PORT`: accepts calls as fast as possible and counts them. `/hang` never answers."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter

import orjson

_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class Book:
    """The calls received since the last reset."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.ids: set[bytes] = set()
        self.paths: Counter[str] = Counter()
        self.first: dict[str, float] = {}
        self.last: dict[str, float] = {}

    def note(self, path: str, head: bytes) -> None:
        self.paths[path] += 1
        self.first.setdefault(path, time.monotonic())
        self.last[path] = time.monotonic()
        self.ids.add(_header(head, b"x-webhook-delivery"))

    def told(self) -> bytes:
        return orjson.dumps(
            {
                "ids": len(self.ids),
                "paths": dict(self.paths),
                "first": self.first,
                "last": self.last,
            }
        )


def _header(head: bytes, name: bytes) -> bytes:
    low = head.lower()
    begin = low.find(b"\r\n" + name + b":")
    if begin < 0:
        return b""
    return head[begin + len(name) + 3 : low.find(b"\r\n", begin + 2)].strip()


class Receiver(asyncio.Protocol):
    def __init__(self, book: Book) -> None:
        self._book = book
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[: end + 2]
            whole = end + 4 + int(_header(head, b"content-length") or b"0")
            if len(self._buffer) < whole:
                return
            self._buffer = self._buffer[whole:]
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        method, path, _ = head.split(b" ", 2)
        if method == b"POST":
            self._book.note(path.decode(), head)
            if path != b"/hang":
                self._transport.write(_ANSWER)
            return
        body = self._book.told()
        if path == b"/forget":
            self._book.forget()
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


async def serve(port: int) -> None:
    book = Book()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Receiver(book), "127.0.0.1", port, backlog=1000)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
