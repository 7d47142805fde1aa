"""Results of outgoing calls for each behavior of the receiver. Real connections on this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from proofroom.core.http_client import CallRefused, Client, HttpResult, Unreachable, fetch
from tests.receiver import Receiver, Reply, Trick, reach, serving

SOON = 0.4
"""Timeout in seconds of calls whose receiver never ends; only these tests wait for it completely."""


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    reach(settings)
    with serving() as running:
        yield running


def call(
    receiver: Receiver, *replies: Reply, seconds: float = 5.0, body: bytes = b"{}"
) -> HttpResult:
    receiver.say("/hook", *replies)
    return fetch("POST", receiver.url("/hook?token=hidden"), body=body, seconds=seconds)


def why_unreachable(receiver: Receiver, trick: Trick, seconds: float = 5.0) -> str:
    with pytest.raises(Unreachable) as caught:
        call(receiver, Reply(trick=trick), seconds=seconds)
    assert "hidden" not in caught.value.reason
    assert caught.value.ms < 5000
    return caught.value.reason


def test_a_call_arrives_as_it_was_given(receiver: Receiver) -> None:
    url = receiver.url("/hook/päth?a=1&b=ü&c=%20#part")
    answer = fetch("POST", url, headers={"X-Mine": "yes"}, body=b'{"a": 1}')

    [seen] = receiver.requests
    assert (seen.method, seen.path, seen.body) == (
        "POST",
        "/hook/p%C3%A4th?a=1&b=%C3%BC&c=%20",
        b'{"a": 1}',
    )
    assert seen.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "user-agent": "proofroom/0.1",
        "accept-encoding": "identity",
        "content-length": "8",
        "x-mine": "yes",
    }
    assert (answer.status, answer.body, answer.note) == (200, b"ok", "")
    assert answer.headers == {"content-length": "2"}


@pytest.mark.parametrize("status", [201, 204, 304, 400, 404, 410, 429, 500, 503])
def test_every_status_is_an_answer(receiver: Receiver, status: int) -> None:
    answer = call(receiver, Reply(status, headers={"Retry-After": "7"}, body=b"words"))

    assert (answer.status, answer.headers["retry-after"], answer.note) == (status, "7", "")
    assert answer.body == (b"" if status in (204, 304) else b"words")


def test_a_head_has_no_body_and_may_be_followed_by_another_call(receiver: Receiver) -> None:
    receiver.say("/page", Reply(headers={"X-A": "1", "x-a": "2"}, body=b""))

    answer = fetch("HEAD", receiver.url("/page"))

    assert (answer.status, answer.headers["x-a"], answer.body) == (200, "1, 2", b"")
    assert "content-length" not in receiver.requests[0].headers


@pytest.mark.parametrize(
    ("trick", "reason"),
    [
        (Trick.DROP, "127.0.0.1 gave no answer: the connection was closed."),
        (Trick.RESET, "127.0.0.1 gave no answer: the connection was closed."),
        (Trick.GARBAGE, "127.0.0.1 gave no answer: the answer is not well-formed HTTP."),
        (Trick.ENDLESS_HEADERS, "127.0.0.1 gave no answer: the answer is not well-formed HTTP."),
        (Trick.ENDLESS_1XX, "127.0.0.1 gave no answer: it is more than an answer needs."),
    ],
)
def test_without_a_status_nobody_answered(receiver: Receiver, trick: Trick, reason: str) -> None:
    assert why_unreachable(receiver, trick) == reason


@pytest.mark.parametrize("trick", [Trick.HANG, Trick.DRIP_HEAD])
def test_a_call_ends_in_time_whatever_drips(receiver: Receiver, trick: Trick) -> None:
    reason = why_unreachable(receiver, trick, seconds=SOON)

    assert reason == "127.0.0.1 gave no answer: no more came within 0.4 s."


@pytest.mark.parametrize(
    ("trick", "body", "note"),
    [
        (Trick.BREAK_OFF, b"hal", "the connection was closed"),
        (Trick.CLAIM_MORE, b"halves", "the connection was closed"),
        (Trick.HANG_BODY, b"hal", "no more came within 0.4 s"),
    ],
)
def test_a_status_counts_though_the_body_breaks_off(
    receiver: Receiver, trick: Trick, body: bytes, note: str
) -> None:
    answer = call(receiver, Reply(202, body=b"halves", trick=trick), seconds=SOON)

    assert (answer.status, answer.body) == (202, body)
    assert answer.note == f"The answer broke off: {note}."


def test_a_body_that_drips_ends_in_time(receiver: Receiver) -> None:
    answer = call(receiver, Reply(trick=Trick.DRIP_BODY), seconds=SOON)

    assert answer.status == 200
    assert answer.note == "The answer broke off: no more came within 0.4 s."
    assert set(answer.body[2:]) == {ord("a")}


@pytest.mark.parametrize(
    "reply", [Reply(trick=Trick.ENDLESS), Reply(body=b"a" * 10_000_000)], ids=["endless", "huge"]
)
def test_only_so_much_of_a_body_is_read(receiver: Receiver, reply: Reply) -> None:
    answer = call(receiver, reply)

    assert len(answer.body) == 65536
    assert answer.note == "Only the first 64 kB were read."


def test_what_is_packed_stays_packed(receiver: Receiver) -> None:
    answer = call(receiver, Reply(trick=Trick.GZIP_BOMB))

    assert (answer.headers["content-encoding"], answer.body[:2]) == ("gzip", b"\x1f\x8b")
    assert len(answer.body) < 20_000


def test_who_hangs_can_be_let_go(receiver: Receiver) -> None:
    async def both() -> HttpResult:
        async with Client() as client:
            hanging = asyncio.create_task(client.send("POST", receiver.url("/slow")))
            await asyncio.to_thread(receiver.wait, 1, "/slow")
            receiver.release()
            return await hanging

    receiver.say("/slow", Reply(201, trick=Trick.HANG))

    assert asyncio.run(both()).status == 201


def send_all(receiver: Receiver, *paths: str) -> list[int | str]:
    """Send requests one after another with one client. Return the status or error of each."""

    async def run() -> list[int | str]:
        ends: list[int | str] = []
        async with Client() as client:
            for path in paths:
                try:
                    ends.append((await client.send("POST", receiver.url(path))).status)
                except Unreachable as error:
                    ends.append(error.reason)
        return ends

    return asyncio.run(run())


def test_one_connection_serves_many_calls(receiver: Receiver) -> None:
    assert send_all(receiver, "/a", "/b", "/c") == [200, 200, 200]
    assert [seen.connection for seen in receiver.requests] == [1, 1, 1]


def test_a_receiver_that_wants_no_second_call_gets_another_connection(receiver: Receiver) -> None:
    receiver.say("/once", Reply(headers={"Connection": "close"}))

    assert send_all(receiver, "/once", "/a", "/b") == [200, 200, 200]
    assert [seen.connection for seen in receiver.requests] == [1, 2, 2]


def test_a_caller_may_name_itself(receiver: Receiver) -> None:
    fetch("POST", receiver.url("/hook"), headers={"user-agent": "n8n", "X-Two": "1"})

    [seen] = receiver.requests
    assert (seen.headers["user-agent"], seen.headers["x-two"]) == ("n8n", "1")


@pytest.mark.parametrize("trick", [Trick.TWO_ANSWERS, Trick.CLAIM_LESS, Trick.BREAK_OFF])
def test_what_is_left_over_answers_no_other_call(receiver: Receiver, trick: Trick) -> None:
    receiver.say("/two", Reply(201, trick=trick, body=b"halves"))
    receiver.say("/next", Reply(500))

    assert send_all(receiver, "/two", "/next", "/two") == [201, 500, 201]
    assert [seen.connection for seen in receiver.requests] == [1, 2, 2]


def test_nobody_waits_for_one_that_hangs(receiver: Receiver) -> None:
    async def run() -> list[int]:
        async with Client() as client:
            hanging = [
                asyncio.create_task(client.send("POST", receiver.url("/slow"))) for _ in range(30)
            ]
            await asyncio.to_thread(receiver.wait, 30, "/slow")
            others = [client.send("POST", receiver.url(f"/{place}")) for place in range(30)]
            answers = await asyncio.gather(*others)
            assert not any(task.done() for task in hanging)
            receiver.release()
            return [answer.status for answer in [*answers, *await asyncio.gather(*hanging)]]

    receiver.say("/slow", Reply(503, trick=Trick.HANG))

    assert asyncio.run(run()) == [200] * 30 + [503] * 30


def test_a_call_that_is_given_up_leaves_the_client_usable(receiver: Receiver) -> None:
    async def run() -> int:
        async with Client() as client:
            hanging = asyncio.create_task(client.send("POST", receiver.url("/slow")))
            await asyncio.to_thread(receiver.wait, 1, "/slow")
            hanging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await hanging
            return (await client.send("POST", receiver.url("/hook"))).status

    receiver.say("/slow", Reply(trick=Trick.HANG))

    assert asyncio.run(run()) == 200


def test_a_large_body_arrives_whole(receiver: Receiver) -> None:
    body = json.dumps(["ä" * 100_000] * 20, ensure_ascii=False).encode()

    assert call(receiver, Reply(), body=body).status == 200
    assert receiver.requests[0].body == body


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"X-Key": "hidden\r\nX-Evil: 1"}, "A header holds characters that headers cannot hold."),
        ({"X-Key": "hidden\0"}, "A header holds characters that headers cannot hold."),
        ({"X-Key": "hidden☃"}, "A header holds characters that headers cannot hold."),
        ({"X-Key\n": "hidden"}, "A header holds characters that headers cannot hold."),
        ({"X Key": "hidden"}, "A header holds characters that headers cannot hold."),
        ({"HOST": "other"}, "The header host is set by the site itself."),
        ({"Content-Length": "5"}, "The header content-length is set by the site itself."),
        (
            {"Transfer-Encoding": "chunked"},
            "The header transfer-encoding is set by the site itself.",
        ),
        ({"Connection": "close"}, "The header connection is set by the site itself."),
    ],
    ids=lambda value: "" if isinstance(value, str) else ascii(next(iter(value))),
)
def test_headers_cannot_change_the_call(
    receiver: Receiver, headers: dict[str, str], reason: str
) -> None:
    with pytest.raises(CallRefused) as caught:
        fetch("POST", receiver.url("/hook"), headers=headers)

    assert caught.value.reason == reason
    assert receiver.connections == 0


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "post", "GET / HTTP/1.1\r\nX: 1\r\n\r\n"])
def test_only_known_methods_are_sent(receiver: Receiver, method: str) -> None:
    with pytest.raises(CallRefused, match="The method must be"):
        fetch(method, receiver.url("/hook"))

    assert receiver.connections == 0


def test_a_kept_connection_that_just_ended_is_no_failure_of_the_call(receiver: Receiver) -> None:
    receiver.say("/hook", Reply(), Reply(trick=Trick.DROP), Reply(202), Reply(trick=Trick.DROP))

    async def calls() -> list[int]:
        async with Client() as client:
            found = [(await client.send("POST", receiver.url("/hook"))).status for _ in range(2)]
            with pytest.raises(Unreachable):  # what a fresh connection says, counts
                await client.send("POST", receiver.url("/hook"))
            return found

    assert asyncio.run(calls()) == [200, 202]
    assert [seen.connection for seen in receiver.requests] == [1, 1, 2, 2, 3]
