"""A closed-loop client: each connection sends its next request when the last answer is complete."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import uvloop

Request = Callable[[int], bytes]
"""The bytes of the n-th request."""


@dataclass(slots=True)
class Result:
    """`seconds` of each answer, in `elapsed` seconds altogether."""

    elapsed: float = 0.0
    seconds: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.elapsed

    def percentile(self, percent: float) -> float:
        """In milliseconds."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def get(path: Callable[[int], str], headers: Mapping[str, str] | None = None) -> Request:
    """GET of a path that may depend on the number of the request."""
    rest = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    tail = f" HTTP/1.1\r\nHost: 127.0.0.1\r\n{rest}\r\n".encode()
    return lambda number: b"GET " + path(number).encode() + tail


def run(
    port: int, request: Request, *, status: int, seconds: float, connections: int, least: int = 0
) -> Result:
    """For so many seconds, and `least` requests however long they take.

    Raises `SystemExit` at an answer of another status: then nothing was measured.
    """
    return uvloop.run(_run(port, request, status, seconds, connections, least))


async def _run(
    port: int, request: Request, status: int, seconds: float, connections: int, least: int
) -> Result:
    result = Result()
    numbers = iter(range(10**9))
    begin = time.perf_counter()
    end = begin + seconds

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4 * 1024 * 1024)
        while (sent := time.perf_counter()) < end or len(result.seconds) < least:
            writer.write(request(next(numbers)))
            found = await _answer(reader)
            if found != status:
                raise SystemExit(f"An answer was {found}, not {status}: {request(0)[:200]!r}")
            result.seconds.append(time.perf_counter() - sent)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(connections)))
    result.elapsed = time.perf_counter() - begin
    return result


async def _answer(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head[9:12])
    at = head.find(b"\r\ncontent-length:")
    if at >= 0:
        length = int(head[at + 17 : head.index(b"\r\n", at + 2)])
        await reader.readexactly(length)
    elif b"transfer-encoding: chunked" in head:
        await reader.readuntil(b"0\r\n\r\n")
    return status
