"""A running MCP server in a separate process, and its clients."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0  # a limit for a busy machine: it starts in a few


@dataclass(frozen=True, slots=True)
class Running:
    """`url` without a path; `data`: folder of the server's database."""

    url: str
    data: Path
    process: subprocess.Popen[bytes]

    def stop(self) -> int:
        """Stop the server like a supervisor; return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=15)

    def execute(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Execute one statement on the server's database, like an administrator from elsewhere."""
        with sqlite3.connect(self.data / "cms.sqlite3", timeout=10) as connection:
            return connection.execute(sql, values).fetchall()


def environment(data: Path, **variables: str) -> dict[str, str]:
    """Return the process's environment: without the machine's services, with all data in `data`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MCP_", "DATABASE_URL", "REDIS_URL", "CMS_"))
    }
    return {**kept, "CMS_DATA_DIR": str(data), "PYTHONPATH": str(ROOT), **variables}


def prepare(data: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.mcp.serve", "prepare"],
        cwd=ROOT,
        env=environment(data),
        check=True,
        timeout=120,
    )


@contextmanager
def running(data: Path, *options: str, **variables: str) -> Iterator[Running]:
    """Yield the server on a free loopback port."""
    port = free_port()
    log = (data / f"server-{port}.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.mcp.serve", "run_mcp", "--port", str(port), *options],
        cwd=ROOT,
        env=environment(data, **variables),
        stdout=log,
        stderr=log,
    )
    server = Running(f"http://127.0.0.1:{port}", data, process)
    try:
        _wait_until_healthy(server, Path(log.name))
        yield server
    finally:
        server.stop()
        log.close()


class Person:
    """A user who works on the server's database through the services, in a separate process:
    `person.approve(id=…)` runs that command of `tests.mcp.person`.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def command(**arguments: Any) -> Any:
            assert self._process.stdin
            assert self._process.stdout
            print(json.dumps([name, arguments]), file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())

        return command


@contextmanager
def person(data: Path, **variables: str) -> Iterator[Person]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.mcp.serve", "person"],
        cwd=ROOT,
        env=environment(data, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Person(process)


def _wait_until_healthy(server: Running, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    answer = "nothing"
    while time.monotonic() < deadline and server.process.poll() is None:
        with suppress(httpx.TransportError):
            answer = httpx.get(f"{server.url}/health").text
            if json.loads(answer) == {"status": "ok"}:
                return
        time.sleep(0.1)
    raise AssertionError(f"the server answered {answer} and did not start:\n{log.read_text()}")


@asynccontextmanager
async def connected(
    server: Running,
    transport: str,
    mode: str = "auto",
    headers: dict[str, str] | None = None,
    *,
    query: str = "",
    **options: Any,
) -> Any:
    """Yield the SDK's client over `sse`, `http` or `stdio`; `mode` is `auto` or `legacy`.

    `query` follows the address of HTTP transports. `options` are the client's own.
    """
    url = f"{server.url}/mcp{query}"
    if transport == "sse":
        async with Client(sse_client(url, headers=headers), mode=mode, **options) as client:
            yield client
    elif transport == "http":
        async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
            link = streamable_http_client(url, http_client=http)
            async with Client(link, mode=mode, **options) as client:
                yield client
    else:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tests.mcp.serve", "run_mcp", "--transport", "stdio"],
            cwd=ROOT,
            env=environment(server.data),
        )
        async with Client(stdio_client(command), mode=mode, **options) as client:
            yield client
