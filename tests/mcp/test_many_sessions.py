"""Many sessions, and clients that never read: memory stays bounded and is freed."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from benchmarks.mcp_sessions import HELLO, ManySessions, resident_kib
from mcp_bridge.transport.sse import MAX_UNREAD_BYTES
from tests.mcp.inside import JSON
from tests.mcp.running import Running, running

SESSIONS: Final = 200
KIB_PER_SESSION: Final = 300
UNREAD_SECONDS: Final = 5


@pytest.fixture(scope="module")
def server(prepared: Path) -> Iterator[Running]:
    limits = {
        "MCP_TEST_MAX_SESSIONS": str(SESSIONS),
        "MCP_TEST_UNREAD_SECONDS": str(UNREAD_SECONDS),
        "THROTTLE_MCP": "off",
        "THROTTLE_MCP_TOOL": "off",
    }
    with running(prepared, **limits) as server:
        yield server


def wait_until(happened: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)


def open_sockets(server: Running) -> int:
    """Return the number of the server's connections."""
    links = Path(f"/proc/{server.process.pid}/fd").iterdir()
    found = 0
    for link in links:
        with suppress(OSError):
            found += str(link.readlink()).startswith("socket:")
    return found


def has_room(server: Running) -> bool:
    """Return True if another session can be opened; ended ones are freed shortly after their sockets."""
    with httpx.stream("GET", f"{server.url}/mcp", timeout=10) as response:
        return response.status_code == 200


def test_200_sessions_are_answered_at_once_and_freed_when_they_are_gone(server: Running) -> None:
    async def sessions() -> tuple[list[dict[str, Any]], int, httpx.Response]:
        many = ManySessions(server.url)
        await many.add(20)
        await many.call("sample_echo", {"postId": "warm"})
        before = resident_kib(server.process.pid)
        await many.add(SESSIONS - 20)
        answers = await many.call("sample_echo", {"postId": "p1"})
        used = resident_kib(server.process.pid) - before
        one_more = httpx.get(f"{server.url}/mcp", timeout=10)
        await many.close()
        return answers, used, one_more

    idle = open_sockets(server)
    answers, used, refused = asyncio.run(sessions())

    assert len(answers) == SESSIONS
    assert {answer["structuredContent"]["arguments"]["postId"] for answer in answers} == {"p1"}
    assert used / SESSIONS < KIB_PER_SESSION
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    assert refused.json()["code"] == "too_many_sessions"
    wait_until(lambda: open_sockets(server) <= idle)
    wait_until(lambda: has_room(server))


def test_a_client_that_never_reads_is_given_no_more_and_loses_its_stream(server: Running) -> None:
    address, stream = _open_and_never_read(server)
    call = {"name": "sample_echo", "arguments": {"postId": "x" * 900_000}}
    before = resident_kib(server.process.pid)
    taken, status = 0, 202
    with httpx.Client(headers=JSON, timeout=20) as http:
        until = time.monotonic() + 20
        while status == 202 and time.monotonic() < until:
            message = {"jsonrpc": "2.0", "id": taken, "method": "tools/call", "params": call}
            response = http.post(address, content=json.dumps(message))
            status, taken = response.status_code, taken + 1

        assert (status, response.json()["code"]) == (429, "unread_answers")
        # Allowed: waiting answers and their copies; freed memory is returned by the allocator
        # later.
        grown = resident_kib(server.process.pid) - before
        assert grown < 8 * MAX_UNREAD_BYTES // 1024
        # The stream ends, and its memory is freed.
        wait_until(lambda: http.post(address, content="{}").status_code == 404)
    stream.close()


def _open_and_never_read(server: Running) -> tuple[str, socket.socket]:
    host, port = server.url.removeprefix("http://").split(":")
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.connect((host, int(port)))
    stream.sendall(f"GET /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    head = b""
    while b"sessionId=" not in head or not head.endswith(b"\r\n"):
        head += stream.recv(4096)
    path = head.partition(b"data: ")[2].split()[0].decode()
    hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO}
    address = server.url + path
    httpx.post(address, headers=JSON, json=hello)
    httpx.post(
        address, headers=JSON, json={"jsonrpc": "2.0", "method": "notifications/initialized"}
    )
    return address, stream
