"""Views and clicks through the product's endpoint, next to a bare endpoint, a multi-row INSERT, and COPY."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

import orjson
from django.db import connection
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from benchmarks import floor_track, load, servers
from benchmarks.load import Series
from benchmarks.report import Report
from benchmarks.servers import Server
from benchmarks.sizes import Sizes

BATCHES: Final = (1, 5, 100)
PRODUCT: Final = "the product"
_BODIES: Final = 50
_WRITTEN: Final = (
    "event_type, post_id, x, y, viewport_width, metadata, locale, version, goal, created_at"
)
Database = AsyncConnection[TupleRow]


@dataclass(slots=True)
class Taken:
    """The results per round: events per second, CPU milliseconds of the server per event (zero for a bare client),
    and the median latency.
    """

    name: str
    batch: int
    per_second: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)


def events(count: int, posts: Sequence[str], number: int) -> list[dict[str, Any]]:
    """Return the events as the client sends them: a view, then clicks."""
    return [_event(posts[(number + place) % len(posts)], place, number) for place in range(count)]


def _event(post: str, place: int, number: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {"path": "/blog/a-slow-morning", "locale": "en", "version": 1}
    if place == 0:
        event = {"eventType": "view", "postId": post, "viewportWidth": 1280}
        return {**event, "metadata": {**metadata, "referrer": "search.example"}}
    spread = (number * 37 + place * 101) % 997
    metadata |= {"selector": "#main > section:nth-of-type(2) > div > a", "postModuleId": post}
    metadata |= {"moduleX": spread / 997, "moduleY": (spread * 13 % 997) / 997}
    event = {"eventType": "click", "postId": post, "viewportWidth": 1280}
    return {**event, "x": 1280 * spread / 997, "y": float(spread * 13), "metadata": metadata}


def _post(path: str, batch: int, posts: Sequence[str]) -> Series:
    made = [orjson.dumps(events(batch, posts, number)) for number in range(_BODIES)]
    agent = b"User-Agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36\r\n"
    head = b"POST " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + agent
    whole = [
        head + b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        for body in made
    ]
    return Series(lambda number: whole[number % _BODIES])


def measure(url: str, posts: Sequence[str], sizes: Sizes) -> list[Taken]:
    """Measure in rounds. Each round runs every way once, in alternating order."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE {floor_track.TABLE} "
            "(LIKE analytics_analyticsevent INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES)"
        )
    found: dict[tuple[str, int], Taken] = {}
    environ = {"FLOOR_DATABASE": url, "FLOOR_SCHEMAS": "/dev/null"}
    with (
        servers.product({}, sizes.workers) as product,
        servers.floor(environ, sizes.workers) as floor,
    ):
        ways = _ways(url, posts, sizes, product, floor)
        for number in range(sizes.rounds + 1):
            for name, batch, way in ways if number % 2 else ways[::-1]:
                per_second, cpu, p50 = way()
                if number == 0:
                    continue  # the first round warms up
                taken = found.setdefault((name, batch), Taken(name, batch))
                taken.per_second.append(per_second)
                taken.cpu.append(cpu)
                taken.p50.append(p50)
    return [found[name, batch] for name, batch, _ in ways]


Way = Callable[[], tuple[float, float, float]]


def _ways(
    url: str, posts: Sequence[str], sizes: Sizes, product: Server, floor: Server
) -> list[tuple[str, int, Way]]:
    seconds, clients = sizes.seconds, sizes.connections
    ways: list[tuple[str, int, Way]] = []
    for batch in BATCHES:
        for name, server, path in (
            (PRODUCT, product, "/api/public/analytics/track"),
            ("bare endpoint", floor, "/track"),
        ):
            series = _post(path, batch, posts)
            ways.append((name, batch, _loaded(server, series, batch, sizes)))
        for durable in (True, False):
            name = f"bare INSERT, {'durable' if durable else 'synchronous_commit off'}"
            ways.append((name, batch, _bare(url, batch, posts, seconds, clients, durable, _insert)))
    for batch in sizes.copied:
        for durable in (True, False):
            name = f"COPY, {'durable' if durable else 'synchronous_commit off'}"
            ways.append((name, batch, _bare(url, batch, posts, seconds, clients, durable, _copy)))
    return ways


def _loaded(server: Server, series: Series, batch: int, sizes: Sizes) -> Way:
    def way() -> tuple[float, float, float]:
        before = server.cpu_seconds()
        result = load.run(
            server.port,
            series,
            status=200,
            seconds=sizes.seconds,
            connections=sizes.connections,
            least=sizes.least_requests,
        )
        spent = server.cpu_seconds() - before
        calls = len(result.seconds)
        return result.per_second * batch, 1000 * spent / (calls * batch), result.percentile(50)

    return way


def _bare(
    url: str, batch: int, posts: Sequence[str], seconds: float, clients: int, durable: bool,
    write: Callable[[Database, list[dict[str, Any]]], Awaitable[None]],
) -> Way:  # fmt: skip
    made = events(batch, posts, 0)

    async def client(end: float, took: list[float]) -> None:
        async with await AsyncConnection.connect(
            url, autocommit=True, prepare_threshold=0
        ) as database:
            await database.execute(f"SET synchronous_commit = {'on' if durable else 'off'}")
            while (begin := time.perf_counter()) < end or not took:
                await write(database, made)
                took.append(time.perf_counter() - begin)

    async def run() -> list[float]:
        took: list[float] = []
        end = time.perf_counter() + seconds
        await asyncio.gather(*(client(end, took) for _ in range(clients)))
        return took

    def way() -> tuple[float, float, float]:
        begin, spent = time.perf_counter(), time.process_time()
        took = asyncio.run(run())
        elapsed, cpu = time.perf_counter() - begin, time.process_time() - spent
        count = len(took) * batch
        return count / elapsed, 1000 * cpu / count, 1000 * median(took)

    return way


async def _insert(database: Database, made: list[dict[str, Any]]) -> None:
    await database.execute(floor_track.statement(len(made)), floor_track.values(made))


async def _copy(database: Database, made: list[dict[str, Any]]) -> None:
    flat = floor_track.values(made)
    width = len(flat) // len(made)
    copying = f"COPY {floor_track.TABLE} ({_WRITTEN}) FROM STDIN"
    async with database.cursor() as cursor, cursor.copy(copying.encode()) as copy:
        for begin in range(0, len(flat), width):
            *first, moment = flat[begin : begin + width]
            await copy.write_row((*first, "en", 1, "", moment))


def show(found: list[Taken], report: Report) -> None:
    bare = {one.batch: median(one.per_second) for one in found if "INSERT, synch" in one.name}
    endpoints = {one.batch: one.cpu for one in found if one.name == "bare endpoint"}
    rows = []
    for one in sorted(found, key=lambda one: one.batch):
        ratio = ""
        if one.name == PRODUCT:
            pairs = zip(one.cpu, endpoints[one.batch], strict=True)
            taken = median(ours / floor for ours, floor in pairs)
            report.ratios[f"track of {one.batch}"] = taken
            ratio = f"{taken:.2f}"
        floor = bare.get(one.batch, bare[100])
        rows.append(
            (
                one.name, f"{one.batch:,}", f"{median(one.per_second):,.0f}",
                f"{median(one.p50):.2f}", f"{median(one.cpu):.4f}", ratio,
                f"{median(one.per_second) / floor:.2f}",
            )
        )  # fmt: skip
    report.show_table(
        (
            "what", "events a call", "events/s", "p50 ms", "CPU ms an event",
            "CPU of the bare endpoint", "events/s of the bare INSERT",
        ),
        rows,
    )  # fmt: skip
