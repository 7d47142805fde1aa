"""Sessions of a process that does not answer: ended or only busy."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mcp_bridge.transport import session_routing
from mcp_bridge.transport.session_routing import report_running
from tests.mcp.inside import Inside, inside

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "0badcafe"
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a reserved port without a listener, with short timeouts."""
    monkeypatch.setattr(session_routing, "_CONNECT_SECONDS", 0.3)
    monkeypatch.setattr(session_routing, "_SILENT_SECONDS", 0.3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        report_running(KEY, f"127.0.0.1:{taken.getsockname()[1]}")
        yield taken


async def refuse(port: socket.socket) -> None:
    """Nothing listens: the process has ended."""


async def say_nothing(port: socket.socket) -> None:
    """The kernel accepts the connection, but the process never reads."""
    port.listen(5)


async def take_no_more(port: socket.socket) -> None:
    """The accept queue is full, so the connection is not even answered."""
    port.listen(0)
    for _ in range(4):
        waiting = socket.socket()
        waiting.setblocking(False)
        waiting.connect_ex(port.getsockname())
        WAITING.append(waiting)


async def hang_up(port: socket.socket) -> None:
    """The process reads the request and ends."""

    async def end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    await asyncio.start_server(end, sock=port.dup())


WAITING: list[socket.socket] = []


@pytest.mark.parametrize(
    ("behave", "status", "code"),
    [
        (refuse, 404, "not_found"),
        (say_nothing, 503, "unavailable"),
        (take_no_more, 503, "unavailable"),
        (hang_up, 503, "unavailable"),
    ],
)
def test_a_session_is_over_only_where_its_process_has_ended(
    port: socket.socket,
    behave: Callable[[socket.socket], Awaitable[None]],
    status: int,
    code: str,
) -> None:
    async def scene(server: Inside) -> None:
        await behave(port)
        answer = await server.ask(body=PING, headers={"Mcp-Session-Id": KEY + "0" * 24})
        assert (answer.status, answer.json["code"]) == (status, code)
        assert answer.headers.get("retry-after") == ("5" if status == 503 else None)

    inside(scene, address="127.0.0.1:1")

    while WAITING:
        WAITING.pop().close()
