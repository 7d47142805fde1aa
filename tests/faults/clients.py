"""Clients that change content over REST, and repeat each change until it is confirmed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from random import Random
from typing import Any


@dataclass
class Made:
    """Confirmed changes. `titles`: titles of posts, each used once."""

    titles: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    submitted: list[str] = field(default_factory=list)
    unsure: int = 0
    """Number of calls with an unknown result."""
    count: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, kind: list[str], what: str) -> None:
        with self.lock:
            kind.append(what)
            self.count += 1


def change(made: Made, *, port: int, token: str, clients: int, changes: int, seed: int) -> None:
    """Make that many changes with concurrent clients, each on its own posts. Raises a client's error."""
    share = changes // clients
    with ThreadPoolExecutor(clients) as pool:
        working = []
        for number in range(clients):
            random = Random(seed + number)  # noqa: S311  # the same every time
            working.append(pool.submit(_Client(made, port, token, number, random).work, share))
        for work in working:
            work.result()


@dataclass
class _Client:
    made: Made
    port: int
    token: str
    number: int
    random: Random
    posts: list[str] = field(default_factory=list)
    connection: HTTPConnection | None = None
    titles: int = 0

    def work(self, changes: int) -> None:
        for _ in range(changes):
            works: list[Callable[[], None]] = [self.create, self.submit]
            if self.posts:
                works += [self.edit] * 9 + [self.publish] * 4 + [self.delete]
            if len(self.posts) >= 6:
                works.remove(self.create)
            self.random.choice(works)()

    def create(self) -> None:
        title = self._title()
        body = {"type": "page", "locale": "en", "title": title, "slug": title, "modules": []}
        status, answer, unsure = self._call("POST", "/api/posts", body)
        # Created by the previous call, whose answer was lost; its id is unknown then.
        assert status == 201 or (unsure and status == 422), (status, answer)
        if status == 201:
            self.posts.append(answer["id"])
        self.made.note(self.made.titles, title)

    def edit(self) -> None:
        title = self._title()
        self._put(self.random.choice(self.posts), {"title": title})
        self.made.note(self.made.titles, title)

    def publish(self) -> None:
        """Publish or unpublish a post; both are changes."""
        id_ = self.random.choice(self.posts)
        status, answer, _ = self._call("GET", f"/api/posts/{id_}")
        assert status == 200, (status, answer)
        moved = "draft" if answer["status"] == "published" else "published"
        self._put(id_, {"status": moved})
        self.made.note(self.made.published, id_)

    def delete(self) -> None:
        id_ = self.posts.pop(self.random.randrange(len(self.posts)))
        status, answer, unsure = self._call("DELETE", f"/api/posts/{id_}")
        assert status == 200 or (unsure and status == 404), (status, answer)
        self.made.note(self.made.deleted, id_)

    def submit(self) -> None:
        message = self._title()
        body = {"email": "visitor@example.com", "message": message}
        status, answer, _ = self._call("POST", "/api/forms/contact/submit", body)
        assert status == 201, (status, answer)
        self.made.note(self.made.submitted, message)

    def _title(self) -> str:
        self.titles += 1
        return f"title-{self.number}-{self.titles}"

    def _put(self, id_: str, body: dict[str, str]) -> None:
        status, answer, _ = self._call("PUT", f"/api/posts/{id_}", body)
        assert status == 200, (status, answer)

    def _call(self, method: str, path: str, body: Any = None) -> tuple[int, Any, bool]:
        """Return the answer, and whether an earlier attempt of the same call may have succeeded."""
        unsure = False
        until = time.monotonic() + 60
        while True:
            try:
                status, answer = self._try(method, path, body)
                if status < 500:
                    return status, answer, unsure
            except ConnectionRefusedError:
                time.sleep(0.1)
                status, answer = 0, "refused"
            except (OSError, HTTPException, ValueError) as error:
                status, answer = 0, repr(error)
            if answer != "refused":
                unsure = True
                with self.made.lock:
                    self.made.unsure += 1
            self.connection = None
            assert time.monotonic() < until, (method, path, status, answer)

    def _try(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, body=data, headers=headers)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read() or b"null")
