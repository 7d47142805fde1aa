"""Streamed answers are sent over ASGI while they are read, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import Client

from cms_project.requests import Utf8ASGIHandler

pytestmark = pytest.mark.django_db


def sent(response: Any, when_sent: Callable[[], object] = lambda: None) -> list[bytes]:
    """Return the parts of the body in order of sending. `when_sent` is called at each."""
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)
        when_sent()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async_to_sync(Utf8ASGIHandler().send_response)(response, send)
    assert messages[0]["type"] == "http.response.start"
    return [message.get("body", b"") for message in messages[1:]]


def test_an_export_is_sent_while_it_is_made() -> None:
    made: list[int] = []

    def lines() -> Iterator[bytes]:
        for number in range(4):
            made.append(number)
            yield b"x" * 40_000

    response = StreamingHttpResponse(lines())
    so_far: list[int] = []
    parts = sent(response, lambda: so_far.append(len(made)))

    assert sum(map(len, parts)) == 160_000
    assert sorted(set(so_far)) == [0, 2, 4]


def test_a_file_is_sent_whole_and_closed(tmp_path: Any) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(range(256)) * 1000)
    file = path.open("rb")

    response = FileResponse(file)
    parts = sent(response)
    response.close()

    assert b"".join(parts) == path.read_bytes()
    assert file.closed


def test_what_is_empty_or_not_streamed_is_sent_as_ever() -> None:
    assert b"".join(sent(StreamingHttpResponse(iter(())))) == b""
    assert b"".join(sent(HttpResponse(b"short"))) == b"short"


def test_static_files_are_such_answers() -> None:
    answer = Client().get("/static/cms/login/passkeys.js")

    assert answer.streaming
    assert answer.status_code == 200
