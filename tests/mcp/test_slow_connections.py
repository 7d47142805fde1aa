"""Slow connections are closed; disconnects and undecidable cases do no harm."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from mcp_bridge.access import authentication
from proofroom.accounts.models import User
from tests.mcp.inside import Answer, Inside, bearer, inside
from tests.mcp.running import Running, running

HEAD = "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(prepared: Path) -> Iterator[Running]:
    with running(prepared, MCP_TEST_BODY_SECONDS="0.5", MCP_TEST_HEAD_SECONDS="0.5") as server:
        yield server


def answer_to(server: Running, text: str) -> bytes:
    """Return everything received until the server closes the connection."""
    host, port = server.url.removeprefix("http://").split(":")
    answered = b""
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(text.encode())
        while piece := connection.recv(4096):
            answered += piece
    return answered


@pytest.mark.parametrize("path", ["/mcp", "/messages?sessionId=" + "0" * 32])
def test_threat_45_a_body_that_never_ends_is_cut_off(server: Running, path: str) -> None:
    answer = answer_to(server, f"{HEAD.format(path=path)}Content-Length: 100\r\n\r\n{{")

    assert answer.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "text",
    ["", "GET /health HT", HEAD.format(path="/mcp")],
    ids=["nothing", "half a line", "half a head"],
)
def test_threat_45_a_head_that_never_ends_is_cut_off(server: Running, text: str) -> None:
    assert answer_to(server, text) == b""


def test_a_second_head_that_never_ends_is_cut_off(server: Running) -> None:
    first = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    answer = answer_to(server, f"{first}GET /hea")

    assert answer.count(b"HTTP/1.1 200 OK") == 1


class _Leaves(Answer):
    """A client that disconnects in the middle of its body."""

    async def receive(self) -> Any:
        self.over.set()
        return {"type": "http.disconnect"}


@pytest.mark.django_db
def test_a_client_that_leaves_amid_its_body_opens_nothing(
    agent: User,
    settings: Any,
    environment: Callable[..., None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"

    async def scene(server: Inside) -> None:
        gone = _Leaves(b"")
        await server.start(sent=gone)
        await gone.over.wait()
        assert (await server.ask()).status == 200
        assert (gone.status, server.app.state.counter.count) == (0, 1)

    inside(scene)

    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []


@pytest.mark.django_db
def test_while_the_database_is_away_everybody_is_asked_to_come_again(
    settings: Any, environment: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"

    def away(*arguments: object) -> None:
        raise OperationalError("connection to server at db.internal failed")

    monkeypatch.setattr(authentication, "find_holder", away)
    monkeypatch.setattr(authentication, "system_account", away)

    async def scene(server: Inside) -> None:
        for headers in ({}, bearer("cmsmcp_x")):
            answer = await server.ask(headers=headers)
            assert (answer.status, answer.json["code"]) == (503, "unavailable")
            assert answer.headers["retry-after"] == "5"
            assert b"db.internal" not in answer.body

    inside(scene)
