"""Name servers that do not answer block only the request for that name."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from proofroom.core.http_client import Client, Unreachable
from proofroom.core.http_client.connection import MOST_AT_ONCE
from tests.receiver import reach, serving


class Servers:
    """Names that start with `hang` are answered after `release`; others resolve to this machine."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.release = threading.Event()

    def resolve(self, host: str, *args: object, **kwargs: object) -> list[Any]:
        self.asked.append(host)
        if host.startswith("hang"):
            self.release.wait(20)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]


@pytest.fixture
def servers(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    reach(settings)
    servers = Servers()
    monkeypatch.setattr(socket, "getaddrinfo", servers.resolve)
    yield servers
    servers.release.set()


async def until_asked(servers: Servers, count: int) -> None:
    async with asyncio.timeout(10):
        while len(servers.asked) < count:
            await asyncio.sleep(0.005)


def test_one_that_hangs_ends_in_time_and_holds_up_no_other(servers: Servers) -> None:
    async def run() -> None:
        async with Client() as client:
            hanging = client.send("POST", receiver.url(host="hang.example"), seconds=0.3)
            waiting = asyncio.create_task(hanging)
            await until_asked(servers, 1)
            answer = await client.send("POST", receiver.url(host="other.example"))
            assert (answer.status, waiting.done()) == (200, False)
            with pytest.raises(Unreachable) as caught:
                await waiting
            assert caught.value.reason == "hang.example gave no answer: no more came within 0.3 s."

    with serving() as receiver:
        asyncio.run(run())


def test_a_name_is_asked_for_once_by_everyone_who_waits(servers: Servers) -> None:
    async def run() -> list[int]:
        async with Client() as client:
            url = receiver.url(host="hang.example")
            calls = [asyncio.create_task(client.send("POST", url)) for _ in range(20)]
            await until_asked(servers, 1)
            servers.release.set()
            return [answer.status for answer in await asyncio.gather(*calls)]

    with serving() as receiver:
        assert asyncio.run(run()) == [200] * 20
    assert servers.asked == ["hang.example"]


def test_so_many_questions_are_open_at_once(servers: Servers) -> None:
    async def run() -> None:
        async with Client() as client:
            calls = [
                asyncio.create_task(client.send("POST", f"http://hang-{place}.example/"))
                for place in range(MOST_AT_ONCE)
            ]
            await until_asked(servers, MOST_AT_ONCE)
            with pytest.raises(Unreachable) as caught:
                await client.send("POST", "http://hang-one-more.example/")
            assert caught.value.reason == "Too many name servers have not answered yet."
            for call in calls:
                call.cancel()

    asyncio.run(run())
    assert len(servers.asked) == MOST_AT_ONCE
