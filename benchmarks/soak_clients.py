"""Clients of the soak: visitors, editors, reviewers, users who start agents, AI clients, and pages that send views.

Their responses are recorded and compared with the stored data at the end.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any, Final, Literal

import httpx

from benchmarks.mcp import CREDENTIALS
from benchmarks.soak_site import Site

MARK: Final = re.compile(r"soak-[a-z]+\d+-\d+")
"""Pattern of the texts of the run. Each is written once."""
SHARES: Final = {"visitor": 32, "tracker": 8, "editor": 8, "ai": 8, "agent": 4, "reviewer": 4}
"""Number of clients of each kind, of 64."""
FIELDS: Final = ("title", "excerpt", "metaDescription", "callout")
"""Fields that editors write, each at its own places. The last is a module's title."""
AGENT: Final = "seo-specialist"
WRITING_TOOL: Final = "update_post_module_ai_review"
PAUSE: Final = 0.3
"""Mean number of seconds between two calls of a client."""
TIMEOUT: Final = 60.0
REFUSALS: Final = (409, 429, 503)
_BROWSER: Final = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36"}
_TRACKED: Final = "/api/public/analytics/track"
_MCP: Final = "io.modelcontextprotocol/"
_REVISION: Final = "2026-07-28"
Fate = Literal["accepted", "refused", "unsure"]
Step = Callable[[], Awaitable[None]]
Place = tuple[str, str]
"""A post, and the part of it that is written."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A call without a response."""

    kind: str
    server: str
    begin: float
    end: float
    error: str


@dataclass(slots=True)
class Book:
    """The calls of the clients and their responses."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    unexpected: dict[str, str] = field(default_factory=dict)
    """The first response of each kind and status that is neither a success nor an expected refusal."""
    broken: list[Broken] = field(default_factory=list)
    written: dict[Place, list[tuple[str, Fate]]] = field(default_factory=lambda: defaultdict(list))
    """The texts of each place, in order. Each place has one writing client."""
    seen: set[str] = field(default_factory=set)
    """Texts that visitors received."""
    approved: set[tuple[str, int]] = field(default_factory=set)
    """Posts, with the versions returned by approvals."""
    runs: list[str] = field(default_factory=list)
    views: Counter[Fate] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class WorkPost:
    """A post that editors and agents write in, with two of its modules."""

    id: str
    path: str
    callout: str
    features: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The content to request, and the headers of the users who request it."""

    posts: Sequence[WorkPost]
    published: Sequence[str]
    pages: Sequence[str]
    people: Sequence[Mapping[str, str]]
    words: Sequence[str]


class Client:
    """A client: one call after another, on its own connections."""

    def __init__(self, site: Site, scene: Scene, book: Book, name: str, number: int) -> None:
        self.scene, self.book, self.name, self.number = scene, book, f"{name}{number}", number
        self.random = Random(self.name)  # noqa: S311  # the same calls each time
        self._made = 0
        self._urls = {"web": f"http://127.0.0.1:{site.web_port}"}
        self._urls["mcp"] = f"http://127.0.0.1:{site.mcp_port}"
        self._http = httpx.AsyncClient(timeout=TIMEOUT, trust_env=False)

    async def close(self) -> None:
        await self._http.aclose()

    async def call(
        self, kind: str, method: str, path: str, *, server: str = "web",
        headers: Mapping[str, str] | None = None, body: object = None,
    ) -> httpx.Response | None:  # fmt: skip
        """Return the response, or None without one. Both are recorded."""
        begin = time.monotonic()
        try:
            answer = await self._http.request(
                method, self._urls[server] + path, headers=dict(headers or {}), json=body
            )
        except httpx.HTTPError as error:
            self.book.broken.append(
                Broken(kind, server, begin, time.monotonic(), type(error).__name__)
            )
            return None
        self.book.seconds[kind].append(time.monotonic() - begin)
        self.book.statuses[kind][answer.status_code] += 1
        if answer.status_code >= 300 and not is_expected(answer):
            self.book.unexpected.setdefault(f"{kind}: {answer.status_code}", answer.text[:300])
        return answer

    def text(self) -> str:
        """Return a text that was never written before."""
        self._made += 1
        return f"Text soak-{self.name}-{self._made}"

    def note(self, place: Place, text: str, answer: httpx.Response | None) -> None:
        mark = MARK.findall(text)[0]
        self.book.written[place].append((mark, fate_of(answer)))


def is_expected(answer: httpx.Response) -> bool:
    """Return True for refusals that concurrent clients must get."""
    # Another reviewer has submitted the changes that this one saw.
    return answer.status_code in REFUSALS or '"code":"nothing_staged"' in answer.text


def fate_of(answer: httpx.Response | None) -> Fate:
    """Return the fate of a write. It is unknown without a response, and after a server error."""
    if answer is None or answer.status_code >= 500:
        return "unsure"
    return "accepted" if answer.status_code < 300 else "refused"


class Visitor(Client):
    """A client that reads public content."""

    async def step(self) -> None:
        post = self.random.choice(self.scene.posts)
        page = self.random.choice((post.path, self.random.choice(self.scene.pages)))
        number = self.random.randrange(1, 20)
        kind, path = self.random.choice(
            (
                ("page", page),
                ("page", page),
                ("list page", "/blog"),
                ("feed", "/blog/feed.xml"),
                ("search page", f"/search?q={self.random.choice(self.scene.words)}"),
                ("delivery, a post", f"/api/public/posts/{post.id}"),
                (
                    "delivery, a post",
                    f"/api/public/posts/{self.random.choice(self.scene.published)}",
                ),
                ("delivery, a list", f"/api/public/posts?type=blog&page={number}"),
            )
        )
        answer = await self.call(kind, "GET", path, headers=_BROWSER)
        if answer is not None:
            self.book.seen.update(MARK.findall(answer.text))


class Tracker(Client):
    """A client that sends one to five views."""

    async def step(self) -> None:
        count = self.random.choice((1, 1, 1, 5))
        post = self.random.choice(self.scene.published)
        event = {
            "eventType": "view",
            "postId": post,
            "viewportWidth": 1280,
            "metadata": {"soak": 1},
        }
        answer = await self.call(
            "views recorded", "POST", _TRACKED, headers=_BROWSER, body=[event] * count
        )
        fate = fate_of(answer)
        self.book.views[fate] += (
            answer.json()["accepted"] if answer is not None and fate == "accepted" else count
        )


class Editor(Client):
    """A client that saves to Review, every other time with the version of the last response."""

    def __init__(self, site: Site, scene: Scene, book: Book, name: str, number: int) -> None:
        super().__init__(site, scene, book, name, number)
        places = list(product(scene.posts, FIELDS))
        self.places = places[number :: clients_of("editor", len(scene.people))]
        self.versions: dict[str, int] = {}

    async def step(self) -> None:
        post, written = self.random.choice(self.places)
        text = self.text()
        if written == "callout":
            module = {"postModuleId": post.callout, "props": {"title": text}}
            body: dict[str, Any] = {"modules": [module]}
        else:
            body = {written: text}
        if post.id in self.versions and self.random.random() < 0.5:
            body["version"] = self.versions.pop(post.id)
        person = self.scene.people[self.number]
        await self.call("a post in all layers", "GET", f"/api/posts/{post.id}", headers=person)
        path = f"/api/posts/{post.id}/review"
        answer = await self.call("save to Review", "PUT", path, headers=person, body=body)
        self.note((post.id, written), text, answer)
        if answer is not None and answer.status_code == 200:
            self.versions[post.id] = answer.json()["version"]


class Reviewer(Client):
    """A client that submits agents' proposals and approves changes in Review."""

    async def step(self) -> None:
        post, person = self.random.choice(self.scene.posts), self.scene.people[self.number]
        layer = self.random.choice(("ai-review", "review", "review"))
        address = f"/api/posts/{post.id}"
        found = await self.call(
            "changes of a layer", "GET", f"{address}/changes?layer={layer}", headers=person
        )
        if found is None or found.status_code != 200 or not found.json()["changes"]:
            return
        if layer == "ai-review":
            await self.call(
                "submit", "POST", f"{address}/ai-review/submit", headers=person, body={}
            )
            return
        body = {"digest": found.json()["digest"]}
        answer = await self.call(
            "approve", "POST", f"{address}/review/approve", headers=person, body=body
        )
        if answer is not None and answer.status_code == 200:
            self.book.approved.add((post.id, answer.json()["version"]))


class AgentStarter(Client):
    """A client that starts an agent and polls until it is done, at most three minutes."""

    run: str = ""
    looks_until: float = 0.0

    async def step(self) -> None:
        person = self.scene.people[self.number]
        if self.run:
            answer = await self.call(
                "run of an agent, read", "GET", f"/api/agent-runs/{self.run}", headers=person
            )
            is_open = answer is None or answer.json().get("status") in ("queued", "running")
            if is_open and time.monotonic() < self.looks_until:
                return
        post = self.random.choice(self.scene.posts)
        path = f"/api/posts/{post.id}/agents/{AGENT}/run"
        answer = await self.call(
            "run of an agent, begun", "POST", path, headers=person, body={"scope": "dropdown"}
        )
        self.run = ""
        if answer is not None and answer.status_code == 201:
            self.run, self.looks_until = answer.json()["id"], time.monotonic() + 180
            self.book.runs.append(self.run)


class AiClient(Client):
    """A client that reads over MCP and stages changes in AI Review."""

    async def step(self) -> None:
        share = clients_of("ai", len(self.scene.people))
        post = self.random.choice(self.scene.posts[self.number :: share] or self.scene.posts[:1])
        tool = self.random.choice(("list_posts", "get_post_context", WRITING_TOOL))
        if tool == "list_posts":
            await self.tool(tool, {"limit": 20})
        elif tool == "get_post_context":
            await self.tool(tool, {"postId": post.id})
        else:
            text = self.text()
            arguments = {"postModuleId": post.features, "props": {"heading": text}}
            answer = await self.tool(tool, arguments)
            self.note((post.id, "features"), text, answer)

    async def tool(self, name: str, arguments: Mapping[str, object]) -> httpx.Response | None:
        """Call a tool with the newest protocol revision, which needs no session."""
        meta = {f"{_MCP}protocolVersion": _REVISION, f"{_MCP}clientCapabilities": {}}
        params = {"name": name, "arguments": dict(arguments), "_meta": meta}
        headers = {
            "Authorization": f"Bearer {CREDENTIALS['MCP_AUTH_TOKEN']}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        kind = f"MCP, {name}"
        answer = await self.call(kind, "POST", "/mcp", server="mcp", headers=headers, body=body)
        if answer is not None and answer.status_code == 200 and '"isError":true' in answer.text:
            self.book.unexpected.setdefault(f"{kind}: an error", answer.text[:300])
            return None
        return answer


KINDS: Final[
    Mapping[str, type[Visitor | Tracker | Editor | Reviewer | AgentStarter | AiClient]]
] = {
    "visitor": Visitor,
    "tracker": Tracker,
    "editor": Editor,
    "ai": AiClient,
    "agent": AgentStarter,
    "reviewer": Reviewer,
}


def clients_of(kind: str, all_clients: int) -> int:
    """Return the number of clients of this kind: at least one."""
    return max(1, round(SHARES[kind] * all_clients / sum(SHARES.values())))


async def run_clients(site: Site, scene: Scene, book: Book, seconds: float) -> None:
    """Run all clients concurrently for `seconds`."""
    end = time.monotonic() + seconds

    async def live(client: Visitor | Tracker | Editor | Reviewer | AgentStarter | AiClient) -> None:
        await asyncio.sleep(client.random.uniform(0, 2 * PAUSE))
        while time.monotonic() < end:
            await client.step()
            await asyncio.sleep(client.random.uniform(0, 2 * PAUSE))
        await client.close()

    made = [
        KINDS[kind](site, scene, book, kind, number)
        for kind in SHARES
        for number in range(clients_of(kind, len(scene.people)))
    ]
    await asyncio.gather(*map(live, made))


def unexplained(broken: Iterable[Broken], site: Site) -> list[Broken]:
    """Return calls that failed while no process was killed."""
    return [one for one in broken if not site.is_broken_by_a_kill(one.server, one.begin, one.end)]
