"""The server stops within seconds with any open streams and pending calls."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.token_holders import Account, TokenHolder
from mcp_bridge.transport.http_server import GracefulShutdown
from mcp_bridge.transport.sessions import Connection
from tests.mcp.running import ROOT, Running, environment, running
from tests.mcp.test_progress import half_written
from tests.mcp.test_protocol import ACCEPT, body_of, greet, headers_of

STEPS = {"name": "sample_steps", "arguments": {"steps": 3000}}

WATCHED = {"name": "sample_steps", "arguments": {"steps": 3000, "writes": False}}

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}


def lines_of(stack: ExitStack, method: str, url: str, **sent: Any) -> Iterator[str]:
    """Yield the lines of a response that stays open."""
    response = stack.enter_context(httpx.stream(method, url, timeout=20, **sent))
    assert response.status_code == 200
    return response.iter_lines()


def open_everything(stack: ExitStack, server: Running) -> list[Iterator[str]]:
    """Open an SSE session, a stream of a session, and a long call with progress in each era."""
    url = f"{server.url}/mcp"
    opened, _ = greet(server, "2025-11-25")
    session = {**ACCEPT, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
    call = body_of("tools/call", {"progressToken": "p"}, **STEPS)
    legacy = {"jsonrpc": "2.0", "id": 9, "method": "tools/call",
              "params": {**WATCHED, "_meta": {"progressToken": "q"}}}  # fmt: skip
    sse = lines_of(stack, "GET", url)
    assert next(sse) == "event: endpoint"
    streams = [
        lines_of(stack, "POST", url, headers=headers_of(call), json=call),
        lines_of(stack, "POST", url, headers=session, json=legacy),
    ]
    for stream in streams:
        assert any("notifications/progress" in line for line in stream)
    return [sse, lines_of(stack, "GET", url, headers=session), *streams]


def test_a_server_that_is_asked_to_stop_ends_every_stream_and_call(prepared: Path) -> None:
    with running(prepared) as server, ExitStack() as stack:
        written = half_written(server)
        streams = open_everything(stack, server)

        # Within the time that a supervisor waits before it kills.
        assert server.stop() == 0

        for stream in streams:
            rest: list[str] = []
            with suppress(httpx.RemoteProtocolError):  # a connection that was cut
                rest.extend(stream)
            assert not any('"done":3000' in line for line in rest)
        assert half_written(server) == written
        log = (prepared / f"server-{server.url.rpartition(':')[2]}.log").read_text()
    assert "Traceback" not in log
    assert "without completing" not in log


def test_stdio_ends_with_its_input_though_a_call_is_under_way(open_server: Running) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {**STEPS, "_meta": {"progressToken": "p"}}},
    ]  # fmt: skip
    written = half_written(open_server)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.mcp.serve", "run_mcp", "--transport", "stdio"],
        cwd=ROOT,
        env=environment(open_server.data),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for message in messages:
            print(json.dumps(message), file=process.stdin, flush=True)
        assert any("notifications/progress" in line for line in process.stdout)

        process.stdin.close()

        assert process.wait(timeout=15) == 0
        assert "Traceback" not in process.stderr.read()
    assert half_written(open_server) == written


def test_an_answer_that_is_left_open_is_ended() -> None:
    start = {"type": "http.response.start", "status": 200, "headers": []}
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def leaves_it_open(scope: Any, receive: Any, send: Any) -> None:
        await send(start)

    anyio.run(GracefulShutdown(leaves_it_open), {"type": "http"}, anyio.sleep_forever, send)

    assert sent == [start, {"type": "http.response.body", "body": b"", "more_body": False}]


HOLDER = TokenHolder(Principal(id="token"), Account(1, "ai_agent"))


@pytest.mark.parametrize("has_begun", [True, False])
def test_what_is_behind_a_connection_stops_though_its_client_is_gone(has_begun: bool) -> None:
    is_gone = False

    async def send(message: Any) -> None:
        if is_gone:
            raise OSError("the connection is gone")

    async def main() -> None:
        nonlocal is_gone
        begun = anyio.Event()

        async def inner(scope: Any, receive: Any, send: Any) -> None:
            if has_begun:
                await send({"type": "http.response.start", "status": 200, "headers": []})
            begun.set()
            await anyio.sleep_forever()

        connection = Connection(HOLDER, {"type": "http"}, anyio.sleep_forever, send)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.serve, inner)
                await begun.wait()
                is_gone = True
                await connection.end()

    anyio.run(main)
