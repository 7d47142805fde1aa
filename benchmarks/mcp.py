"""MCP tool calls through the SDK's client, next to a no-op tool on the bare SDK; and many sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from benchmarks.mcp_sessions import ManySessions, resident_kib
from benchmarks.report import Report

if TYPE_CHECKING:
    from mcp import Client

    from benchmarks.servers import Server

TRANSPORTS: Final = ("sse", "streamable")
NOTHING: Final = "no-op of the bare SDK"
CREDENTIALS: Final = {
    "MCP_AUTH_TOKEN": "benchmark-token",
    "MCP_AUTH_HEADER_NAME": "X-Benchmark",
    "MCP_AUTH_HEADER_VALUE": "benchmark-value",
}
HEADERS: Final = ({"Authorization": "Bearer benchmark-token"}, {"X-Benchmark": "benchmark-value"})


@dataclass(slots=True)
class Taken:
    """Milliseconds per round: the median call, and the server's CPU time per call."""

    calls: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


Found = dict[tuple[str, str], Taken]
Given = Callable[[], dict[str, Any]]
"""A function that returns the arguments of the next call."""
_WARMING: Final = 5
"""Calls of a session before the measurement."""


def measure(
    post_ids: Sequence[str], product: Server, floor: Server, rounds: int, calls: int
) -> Found:
    """Return results by transport and name. Each round runs all of them, in alternating order.

    A cold context is of a post not requested before. Raises `SystemExit` if there are too few posts.
    """
    post_id, *others = post_ids
    if len(others) < (needed := (rounds + 1) * len(TRANSPORTS) * (calls + _WARMING)):
        raise SystemExit(f"{len(others)} posts are too few for {needed} cold calls.")
    new_ids = iter(others)
    jobs: list[tuple[str, Server, str, Given]] = [
        (NOTHING, floor, "nothing", dict),
        ("list_taxonomies", product, "list_taxonomies", dict),
        ("list_posts, 20", product, "list_posts", lambda: {"limit": 20}),
        ("get_post_context", product, "get_post_context", lambda: {"postId": post_id}),
        ("get_post_context, cold", product, "get_post_context", lambda: {"postId": next(new_ids)}),
    ]
    found: Found = {(kind, job[0]): Taken() for kind in TRANSPORTS for job in jobs}
    for number in range(rounds + 1):
        for kind in TRANSPORTS:
            for name, server, tool, given in jobs if number % 2 == 0 else jobs[::-1]:
                call, cpu = asyncio.run(_round(server, kind, tool, given, calls))
                if number:  # the first round only loads modules
                    found[kind, name].calls.append(call)
                    found[kind, name].cpu.append(cpu)
    return found


async def _round(
    server: Server, kind: str, tool: str, given: Given, calls: int
) -> tuple[float, float]:
    async with connected(server, kind) as client:
        for _ in range(_WARMING):
            result = await client.call_tool(tool, given())
            assert not result.is_error, result.content
        before, times = server.cpu_seconds(), []
        for _ in range(calls):
            arguments = given()
            begin = time.perf_counter()
            await client.call_tool(tool, arguments)
            times.append(time.perf_counter() - begin)
        spent = server.cpu_seconds() - before
    return 1000 * median(times), 1000 * spent / calls


@asynccontextmanager
async def connected(server: Server, kind: str) -> AsyncIterator[Client]:
    import httpx2
    from mcp import Client
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    url = f"http://127.0.0.1:{server.port}/mcp"
    if kind == "sse":
        async with Client(sse_client(url, headers=HEADERS[0])) as client:
            yield client
        return
    async with (
        httpx2.AsyncClient(headers=HEADERS[0], timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def show(found: Found, report: Report) -> None:
    rows = []
    for (kind, name), taken in found.items():
        floor = found[kind, NOTHING]
        call, cpu = median(taken.calls), median(taken.cpu)
        ratio = median(ours / bare for ours, bare in zip(taken.cpu, floor.cpu, strict=True))
        if name != NOTHING:
            report.ratios[f"{name}, {kind}"] = ratio
        rows.append(
            (
                f"{name}, {kind}", f"{call:.2f}", f"{call / median(floor.calls):.2f}",
                f"{cpu:.2f}", f"{ratio:.2f}",
            )
        )  # fmt: skip
    report.show_table(("call", "ms", "of the no-op", "CPU ms", "CPU of the no-op"), rows)


def sessions(product: Server, each: int) -> list[tuple[int, float, float]]:
    """Return numbers of open sessions, KiB of server memory for each, and seconds until the last ones were answered.

    Opens `each` sessions for two credentials.
    """
    return asyncio.run(_sessions(product, each))


async def _sessions(product: Server, each: int) -> list[tuple[int, float, float]]:
    url = f"http://127.0.0.1:{product.port}"
    first, second = (ManySessions(url, headers) for headers in HEADERS)
    await first.add(min(50, each))
    await first.call("list_taxonomies", {})
    first.drop()
    # The server needs a moment to notice closed connections.
    await asyncio.sleep(2)
    empty, found = resident_kib(product.pid), []
    for many in (first, second):
        begin = time.perf_counter()
        await many.add(each)
        answers = await many.call("list_taxonomies", {})
        assert not any(answer.get("isError") for answer in answers)
        count = len(first.open) + len(second.open)
        used = (resident_kib(product.pid) - empty) / count
        found.append((count, used, time.perf_counter() - begin))
    for many in (first, second):
        await many.close()
    return found


async def listed(product: Server) -> tuple[int, str]:
    """Return the number of tools, and the JSON of their descriptions as a host usually shows them to a model."""
    import orjson

    async with connected(product, "streamable") as client:
        tools = (await client.list_tools()).tools
    shown = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in tools
    ]
    return len(tools), orjson.dumps(shown).decode()
