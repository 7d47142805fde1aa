"""A closed-loop client: each connection sends its next request after the last response is complete."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import uvloop

Request = Callable[[int], bytes]
"""A function that returns the bytes of the n-th request."""
LEAST_SHARE: Final = 10
"""Smallest number of fresh responses in a round for a valid measurement."""


@dataclass(slots=True)
class Result:
    """The result of a load: `seconds` of each response, and `elapsed` seconds in total."""

    elapsed: float = 0.0
    seconds: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.elapsed

    def percentile(self, percent: float) -> float:
        """Return a percentile of the latency, in milliseconds."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(slots=True)
class Series:
    """The requests of one row for all its loads, including the warm-up. Each number is sent once.

    `is_fresh`: no two responses may be equal. `supply`: number of available requests, None for any number.
    """

    request: Request
    is_fresh: bool = False
    supply: int | None = None
    change: Callable[[int], None] | None = None
    """Called before each request. Such requests are sent one at a time."""
    sent: int = 0
    _answers: set[int] = field(default_factory=set)

    def share(self, loads: int, least: int) -> int | None:
        """Return the number of requests for each of `loads` loads; None for any number.

        Raises `SystemExit` if that is less than `least`.
        """
        if self.supply is None:
            return None
        share = self.supply // loads
        if share < max(least, LEAST_SHARE):
            raise SystemExit(
                f"{self.supply} fresh answers are too few for {loads} loads: seed more posts, "
                f"or run fewer rounds. The first is {self.request(0)[:200]!r}"
            )
        return share

    def next(self) -> bytes:
        """Return the next request. Raises `SystemExit` after the last."""
        number = self.sent
        if number == self.supply:
            # Repeating a request would measure a cached response.
            raise SystemExit(f"All {number} requests were sent: {self.request(0)[:200]!r}")
        self.sent += 1
        if self.change is not None:
            self.change(number)
        return self.request(number)

    def require_new(self, body: bytes) -> None:
        """Raise `SystemExit` if responses must be fresh and this one is a repetition."""
        if not self.is_fresh:
            return
        answer = hash(body)
        if answer in self._answers:
            raise SystemExit(f"An answer came twice, so it was not made again: {body[:200]!r}")
        self._answers.add(answer)


def get(
    path: Callable[[int], str],
    headers: Mapping[str, str] | None = None,
    *,
    is_fresh: bool = False,
    supply: int | None = None,
    change: Callable[[int], None] | None = None,
) -> Series:
    """Return GET requests for a path that may depend on the request's number."""
    rest = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    tail = f" HTTP/1.1\r\nHost: 127.0.0.1\r\n{rest}\r\n".encode()
    return Series(lambda number: b"GET " + path(number).encode() + tail, is_fresh, supply, change)


def run(
    port: int,
    series: Series,
    *,
    status: int,
    seconds: float,
    connections: int,
    least: int = 0,
    most: int | None = None,
) -> Result:
    """Load the server for `seconds`, but send at least `least` and at most `most` requests.

    Uses a single connection if something changes before each request. Raises `SystemExit` for a response with another
    status, because the measurement is then invalid.
    """
    connections = 1 if series.change is not None else connections
    return uvloop.run(_run(port, series, status, seconds, connections, least, most))


async def _run(
    port: int,
    series: Series,
    status: int,
    seconds: float,
    connections: int,
    least: int,
    most: int | None,
) -> Result:
    result = Result()
    end = None if most is None else series.sent + most
    begin = time.perf_counter()
    until = begin + seconds
    changing = 0.0

    async def connection() -> None:
        nonlocal changing
        # `readuntil` refuses a chunked body above the limit, 64 KiB by default.
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4 * 1024 * 1024)
        while (turn := time.perf_counter()) < until or len(result.seconds) < least:
            if series.sent == end:
                break
            request = series.next()
            sent = time.perf_counter()
            if series.change is not None:
                changing += sent - turn
            writer.write(request)
            found, body = await _answer(reader)
            if found != status:
                raise SystemExit(f"An answer was {found}, not {status}: {request[:200]!r}")
            result.seconds.append(time.perf_counter() - sent)
            series.require_new(body)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(connections)))
    # The time for changes is not the server's.
    result.elapsed = time.perf_counter() - begin - changing
    return result


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head[9:12])
    body = b""
    at = head.find(b"\r\ncontent-length:")
    if at >= 0:
        length = int(head[at + 17 : head.index(b"\r\n", at + 2)])
        body = await reader.readexactly(length)
    elif b"transfer-encoding: chunked" in head:
        body = await reader.readuntil(b"0\r\n\r\n")
    return status, body
