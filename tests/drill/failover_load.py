"""The load of the drill: readers, editors, visitors who send forms and views, an open page, and runs of agents.

Each text that is written contains a mark with a number that grows, so that a reading shows which writes it contains.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import Any, Final, Literal

import httpx
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.deployment.site import HOST, PAST_NGINX, THROUGH_NGINX, trusting_all
from tests.drill.failover_site import Site
from tests.make import PASSWORD

MARK: Final = re.compile(r"mark-(\d+)-(\d+)-")
PAUSE: Final = 0.1
"""Mean seconds between two calls of a client."""
Fate = Literal["accepted", "refused", "unsure"]
TRACKED: Final = "/api/public/analytics/track"


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer to a reader, or status 0 without one. `numbers`: the newest mark in it, by post."""

    where: str
    path: str
    begun: float
    ended: float
    status: int
    cache: str
    numbers: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Write:
    """A change and its fate, which is unsure without an answer and after a server error. `key`: its text, which
    no other change has.
    """

    kind: str
    key: str
    place: int
    begun: float
    ended: float
    status: int

    @property
    def fate(self) -> Fate:
        if self.status == 0 or self.status >= 500:
            return "unsure"
        return "accepted" if self.status < 300 else "refused"


@dataclass(slots=True)
class Records:
    readings: list[Reading] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    """Ids of the events that the open page received."""
    reloads: list[str] = field(default_factory=list)
    """The newest events at each request to load the page again, which replaces more than 50 events."""
    opened: int = 0
    """How often the page had to connect."""
    errors: list[BaseException] = field(default_factory=list)

    def raise_error(self) -> None:
        """Raise the first error of a client. It is one of the drill, because failed calls are recorded."""
        for error in self.errors:
            raise error

    def count(self, kind: str, fate: Fate, since: float = 0.0) -> int:
        return sum(
            one.kind == kind and one.fate == fate and one.begun >= since
            for one in list(self.writes)
        )


@dataclass(frozen=True)
class Content:
    """The posts of the site: their ids and paths, and the headers of the person who changes them."""

    posts: Sequence[str]
    paths: Sequence[str]
    session: Mapping[str, str]


def sign_in(site: Site) -> dict[str, str]:
    """Return the headers of a browser with a session."""
    with httpx.Client(verify=False, timeout=60, trust_env=False) as http:  # noqa: S501
        answer = http.post(
            f"{site.origin}/api/auth/login",
            headers=THROUGH_NGINX,
            json={"email": "admin@example.com", "password": PASSWORD},
        )
    assert answer.status_code == 200, answer.text
    cookies = dict(
        line.partition(";")[0].split("=", 1) for line in answer.headers.get_list("set-cookie")
    )
    return {
        **THROUGH_NGINX,
        "Referer": f"https://{HOST}/",
        "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        "X-CSRFToken": cookies["csrftoken"],
    }


class Client:
    """A client with connections of its own, on a thread of its own."""

    def __init__(self, site: Site, content: Content, records: Records, number: int) -> None:
        self.site, self.content, self.records, self.number = site, content, records, number
        self.random = Random(number)  # noqa: S311  # the same each time
        self.http = httpx.Client(verify=False, timeout=60, trust_env=False)  # noqa: S501
        self.headers: Mapping[str, str] = content.session
        self.made = 0

    def step(self) -> None:
        raise NotImplementedError

    def send(self, method: str, path: str, body: object = None) -> httpx.Response | None:
        """Return the answer of nginx, or None without one."""
        headers = dict(self.headers)
        url = f"{self.site.origin}{path}"
        with suppress(httpx.HTTPError):
            return self.http.request(method, url, headers=headers, json=body)
        return None

    def write(
        self, kind: str, key: str, place: int, method: str, path: str, body: object
    ) -> httpx.Response | None:
        """Send a change and record its fate."""
        begun = time.monotonic()
        answer = self.send(method, path, body)
        status = 0 if answer is None else answer.status_code
        self.records.writes.append(Write(kind, key, place, begun, time.monotonic(), status))
        return answer


class Reader(Client):
    """A visitor: reads pages, lists and the delivery API through nginx, or past it from one web process."""

    def __init__(
        self, site: Site, content: Content, records: Records, number: int, where: str = "nginx"
    ) -> None:
        super().__init__(site, content, records, number)
        self.where = where
        self.origin = site.origin if where == "nginx" else site.web[where]
        self.headers = THROUGH_NGINX if where == "nginx" else PAST_NGINX
        paths = [*content.paths, *(f"/api/public/posts/{id_}" for id_ in content.posts)]
        self.random.shuffle(paths)
        self.paths = cycle([*paths, "/blog", "/blog/feed.xml", "/api/public/posts?type=blog"])

    def step(self) -> None:
        path, begun = next(self.paths), time.monotonic()
        status, cache, text = 0, "", ""
        with suppress(httpx.HTTPError):
            answer = self.http.get(f"{self.origin}{path}", headers=self.headers)
            status, cache, text = answer.status_code, answer.headers.get("X-Cache", ""), answer.text
        numbers: dict[int, int] = {}
        for post, number in MARK.findall(text):
            # The page's first module keeps the title that the post began with.
            numbers[int(post)] = max(numbers.get(int(post), 0), int(number))
        self.records.readings.append(
            Reading(self.where, path, begun, time.monotonic(), status, cache, numbers)
        )


class Editor(Client):
    """Changes posts of its own: live, and over Review with an approval. Creates posts."""

    def __init__(
        self, site: Site, content: Content, records: Records, number: int, places: Sequence[int]
    ) -> None:
        super().__init__(site, content, records, number)
        self.places = places

    def step(self) -> None:
        self.made += 1
        place = self.random.choice(self.places)
        address = f"/api/posts/{self.content.posts[place]}"
        match self.made % 5:
            case 0:
                slug = f"new-{self.number}-{self.made}"
                body = {"type": "blog", "title": slug, "slug": slug, "modules": []}
                self.write("create", slug, self.number, "POST", "/api/posts", body)
            case 1 | 2:
                self._approve(place, address)
            case _:
                mark = f"mark-{place}-{self.made}-"
                self.write("edit", mark, place, "PUT", address, {"title": mark})

    def _approve(self, place: int, address: str) -> None:
        text = f"approved {self.number}-{self.made}"
        staged = self.write("save", text, place, "PUT", f"{address}/review", {"excerpt": text})
        if staged is None or staged.status_code != 200:
            return
        changes = self.send("GET", f"{address}/changes?layer=review")
        if changes is not None and changes.status_code == 200 and changes.json()["changes"]:
            body = {"digest": changes.json()["digest"]}
            self.write("approve", text, place, "POST", f"{address}/review/approve", body)


class Sender(Client):
    """A visitor who sends forms and views."""

    def __init__(self, site: Site, content: Content, records: Records, number: int) -> None:
        super().__init__(site, content, records, number)
        # The site counts no views of its staff and of programs.
        self.headers = {
            **THROUGH_NGINX,
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0",
        }

    def step(self) -> None:
        self.made += 1
        name = f"{self.number}-{self.made}"
        if self.made % 2:
            body: object = {"email": "visitor@example.com", "message": name}
            self.write("form", name, self.number, "POST", "/api/forms/contact/submit", body)
            return
        post = self.random.choice(self.content.posts)
        view = {"eventType": "view", "postId": post, "metadata": {"call": name}}
        answer = self.write("view", name, self.number, "POST", TRACKED, view)
        assert answer is None or answer.status_code != 200 or answer.json() == {"accepted": 1}


class Starter(Client):
    """Starts as many runs of an agent as the drill allows, each on a post that nobody edits."""

    def __init__(
        self, site: Site, content: Content, records: Records, number: int, places: Sequence[int]
    ) -> None:
        super().__init__(site, content, records, number)
        self.places = iter(places)
        self.allowed = threading.Semaphore(0)
        self.runs: list[str] = []

    def step(self) -> None:
        if not self.allowed.acquire(timeout=1):
            return
        place = next(self.places)
        path = f"/api/posts/{self.content.posts[place]}/agents/stager/run"
        answer = self.write("run", str(place), place, "POST", path, {})
        if answer is not None and answer.status_code == 201:
            self.runs.append(answer.json()["id"])
        else:
            self.allowed.release()


class OpenPage:
    """The admin's script: a websocket that reconnects, and resumes after the last event that it received."""

    def __init__(self, site: Site, content: Content, records: Records) -> None:
        self.site, self.content, self.records = site, content, records
        self.last = ""

    def step(self) -> None:
        after = f"?after={self.last}" if self.last else ""
        with suppress(OSError, WebSocketException):
            line = socket.create_connection(("127.0.0.1", self.site.ports["nginx"]))
            with (
                line,
                connect(
                    f"wss://{HOST}/ws/events/{after}",
                    sock=line,
                    ssl=trusting_all(),
                    origin=f"https://{HOST}",
                    additional_headers={"Cookie": self.content.session["Cookie"]},
                    open_timeout=20,
                ) as page,
            ):
                self.records.opened += 1
                while True:
                    self._hear(json.loads(page.recv(timeout=60)))

    def _hear(self, message: Mapping[str, Any]) -> None:
        if "event" in message:
            self.last = message["id"]
            self.records.heard.append(message["id"])
        elif message.get("last"):
            self.last = message["last"]
            if "reload" in message:
                self.records.reloads.append(self.last)


@contextmanager
def under_load(records: Records, clients: Sequence[Client | OpenPage]) -> Iterator[None]:
    """Run the clients in the block."""
    ended = threading.Event()

    def live(step: Callable[[], None], random: Random) -> None:
        try:
            while not ended.is_set():
                step()
                time.sleep(random.uniform(0, 2 * PAUSE))
        except BaseException as error:
            records.errors.append(error)

    threads = [
        threading.Thread(
            target=live,
            args=(client.step, Random(number)),  # noqa: S311  # the same each time
            daemon=isinstance(client, OpenPage),
        )
        for number, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            if not thread.daemon:
                thread.join()
    records.raise_error()
