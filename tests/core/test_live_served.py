"""Two real servers on one database, and a real WebSocket client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.make import PASSWORD
from tests.migrated import give_database
from tests.served import prepare, served

PEOPLE = """
from tests import make
for role in ("admin", "editor", "translator"):
    make.user(role)
print(make.post().pk)
"""


class Person:
    """A user with a browser: a session at one of the servers."""

    def __init__(self, url: str, role: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url)
        body = {"email": f"{role}@example.com", "password": PASSWORD}
        assert self.http.post("/api/auth/login", json=body).status_code == 200

    def write(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"X-CSRFToken": self.http.cookies["csrftoken"]}
        response = self.http.request(method, path, json=body or {}, headers=headers)
        assert response.status_code < 300, response.text
        return response.json()

    def opens(self, url: str, origin: str = "") -> Any:
        cookie = f"sessionid={self.http.cookies['sessionid']}"
        return connect(
            f"{url.replace('http', 'ws', 1)}/ws/events/",
            origin=origin or url,
            additional_headers={"Cookie": cookie},
            open_timeout=20,
        )


def hears(page: ClientConnection) -> Any:
    return json.loads(page.recv(timeout=20))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """Yield two servers, and the id of a post."""
    folder: Path = tmp_path_factory.mktemp("site")
    give_database(folder)
    post_id = prepare(folder, PEOPLE)
    with ExitStack() as stack:
        first, second = (stack.enter_context(served(folder)) for _ in range(2))
        yield first, second, post_id


def test_what_happens_at_one_server_is_heard_at_the_other(site: Any) -> None:
    first, second, post_id = site
    editor, translator = Person(first, "editor"), Person(second, "translator")
    with translator.opens(second) as far, editor.opens(first) as near:
        assert "hello" in hears(far)
        assert "hello" in hears(near)

        editor.write("PUT", f"/api/posts/{post_id}/review", {"excerpt": "Waits"})

        told = [hears(page) for page in (far, near)]
    assert [message["event"] for message in told] == ["post.review.save"] * 2
    assert [message["mine"] for message in told] == [False, True]
    assert told[0]["id"] == told[1]["id"]
    assert told[0]["postId"] == post_id


def test_who_logs_out_or_is_switched_off_is_put_out_everywhere(site: Any) -> None:
    first, second, _ = site
    admin, editor, translator = (Person(first, role) for role in ("admin", "editor", "translator"))
    accounts = admin.http.get("/api/users").json()["data"]
    editor_id = next(row["id"] for row in accounts if row["email"] == "editor@example.com")
    with translator.opens(second) as page, editor.opens(second) as other:
        assert "hello" in hears(page)
        assert "hello" in hears(other)

        translator.write("POST", "/api/auth/logout")
        admin.write("PATCH", f"/api/users/{editor_id}", {"active": False})

        assert [_closed(page), _closed(other)] == [4401, 4401]
    admin.write("PATCH", f"/api/users/{editor_id}", {"active": True})


def test_the_handshake_is_refused_before_anything_is_said(site: Any) -> None:
    first, second, _ = site
    admin = Person(first, "admin")

    for url, origin in ((first, "https://evil.example"), (second, "http://[")):
        with pytest.raises(InvalidStatus) as refused, admin.opens(url, origin):
            pass
        assert refused.value.response.status_code == 403


def test_a_frame_of_any_size_ends_the_connection(site: Any) -> None:
    admin = Person(site[0], "admin")
    for frame in ("{}", b"\x00" * 200_000):
        with admin.opens(site[0]) as page:
            page.send(frame)
            assert _closed(page) in (4400, 1009)


def _closed(page: ClientConnection) -> int:
    """Return the close code, after any number of messages."""
    try:
        while True:
            page.recv(timeout=20)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 0
