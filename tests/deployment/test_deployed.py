"""A site deployed like in docs/how-to/deploy-processes.md supports all features."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from websockets.sync.client import connect

from tests.browser.conftest import CHROMIUM
from tests.deployment.site import (
    EMAIL,
    HOST,
    MCP_HOST,
    PASSWORD,
    PAST_NGINX,
    SECRETS,
    THROUGH_NGINX,
    Person,
    Site,
    deployed,
    trusting_all,
    until,
)
from tests.media.pictures import picture
from tests.receiver import Receiver, serving

pytestmark = pytest.mark.deployment
SEEN_WITHIN = 1.0
"""Seconds until a change in one web process is visible in another."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with serving() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("deployment")
    folder.chmod(0o755)
    with deployed(folder, receiver.host) as found:
        yield found


@pytest.fixture(scope="module")
def owner(site: Site) -> Person:
    return site.person()


@pytest.fixture(scope="module", autouse=True)
def scheduled(owner: Person) -> str:
    """Create a scheduled post. The scheduler runs once a minute, so this fixture comes first."""
    body = {"type": "blog", "title": "Later", "slug": "later"}
    post: dict[str, Any] = owner.send("POST", "/api/posts", json=body)
    moment = datetime.now(UTC) + timedelta(seconds=5)
    owner.send("PUT", f"/api/posts/{post['id']}", json={"publishAt": moment.isoformat()})
    return str(post["id"])


@pytest.fixture(scope="module")
def post(owner: Person) -> str:
    """Return a live post."""
    body = {"type": "blog", "title": "First light", "slug": "first-light"}
    made = owner.send("POST", "/api/posts", json=body)
    owner.send("PUT", f"/api/posts/{made['id']}", json={"status": "published"})
    return str(made["id"])


def test_the_commands_of_the_first_start_find_nothing_wrong(site: Site) -> None:
    assert "no issues" in site.said["python manage.py check --deploy"]
    assert "post-processed" in site.said["python manage.py collectstatic --noinput"]


def test_the_doctor_finds_the_site_well(site: Site) -> None:
    said = until("a worker for every queue", lambda: _well(site))

    lines = dict(line.split(": ", 1) for line in said.splitlines() if not line.startswith(" "))
    assert lines["ok    workers"] == "take from every queue"
    assert lines["ok    messages to workers"] == "none is known to have failed"
    assert lines["ok    static files"] == "collected, with hashed names"
    # There is no AI in CI, which the doctor may say.
    assert [name for name in lines if not name.startswith("ok")] == ["warn  AI providers"]


def _well(site: Site) -> str | None:
    said = site.environment.run("python manage.py doctor")
    return said if "take from every queue" in said else None


def test_a_webhook_arrives(owner: Person, receiver: Receiver, post: str) -> None:
    body = {"name": "Hook", "url": receiver.url("/hook"), "events": ["post.updated"]}
    owner.send("POST", "/api/webhooks", json=body)

    owner.send("PUT", f"/api/posts/{post}", json={"title": "First light, told"})

    (call,) = receiver.wait(1, "/hook", 60)
    assert call.json()["data"]["title"] == "First light, told"
    made = hmac.new(SECRETS["AGENT_SECRET"].encode(), call.body, hashlib.sha256).hexdigest()
    assert call.headers["x-hub-signature-256"] == f"sha256={made}"


def test_variants_of_a_picture_are_made(owner: Person, site: Site) -> None:
    file = ("a.png", picture("PNG", (900, 10)), "image/png")
    asset = owner.send("POST", "/api/media/upload", files={"file": file})

    def ready() -> Any:
        found = owner.send("GET", f"/api/media/{asset['id']}")
        return found if found["status"] == "ready" else None

    variants = until("a picture of its own size", ready)["variants"]
    answer = owner.http.get(_path_of(variants["small"]))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")


def _path_of(url: str) -> str:
    return "/" + url.removeprefix(f"https://{HOST}").lstrip("/")


def test_a_run_of_an_agent_ends(owner: Person, post: str) -> None:
    run = owner.send("POST", f"/api/posts/{post}/agents/seo-specialist/run", json={})

    def ended() -> Any:
        found = owner.send("GET", f"/api/agent-runs/{run['id']}")
        return found if found["finishedAt"] else None

    found = until("the end of a run", ended)
    assert (found["status"], found["error"]) == ("succeeded", None), found


def test_a_change_through_one_web_process_is_seen_through_the_other(site: Site, post: str) -> None:
    first, second = (Person(address, PAST_NGINX) for address in site.web)
    for person in (first, second):
        person.log_in()
    for number, (here, there) in enumerate(((first, second), (second, first))):
        path = there.send("GET", f"/api/public/posts/{post}")["url"]
        assert there.http.get(path).status_code == 200  # kept by that process from now on

        title = f"Changed {number} times"
        here.send("PUT", f"/api/posts/{post}", json={"title": title})

        def is_there(title: str = title, path: str = path, there: Person = there) -> bool:
            wire = there.send("GET", f"/api/public/posts/{post}")
            return wire["title"] == title and title in there.http.get(path).text

        until("a change through another process", is_there, SEEN_WITHIN)


def test_an_open_page_hears_of_a_change(site: Site, owner: Person, post: str) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in owner.cookies().items())
    with (
        socket.create_connection(("127.0.0.1", site.port)) as line,
        connect(
            f"wss://{HOST}/ws/events/",
            sock=line,
            ssl=trusting_all(),
            origin=f"https://{HOST}",
            additional_headers={"Cookie": cookies},
        ) as page,
    ):
        owner.send("PUT", f"/api/posts/{post}", json={"excerpt": "Heard."})

        def heard() -> bool:
            told = json.loads(page.recv(timeout=30))
            return bool(told.get("postId") == post)

        until("an event on the page", heard)


def test_an_ai_client_calls_a_tool(site: Site, post: str) -> None:
    async def call() -> Any:
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Host": MCP_HOST, "Authorization": f"Bearer {SECRETS['MCP_AUTH_TOKEN']}"}
        async with (
            httpx2.AsyncClient(headers=headers, verify=False, timeout=60) as http,
            Client(streamable_http_client(f"{site.origin}/mcp", http_client=http)) as client,
        ):
            return await client.call_tool("get_post_context", {"postId": post})

    result = asyncio.run(call())

    assert not result.is_error, result.content
    assert post in str(result.content)


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_static_files_are_hashed_compressed_and_kept_for_ever(site: Site, encoding: str) -> None:
    visitor = Person(site.origin, THROUGH_NGINX).http
    page = visitor.get("/admin/login/").text
    names = re.findall(r'(?:src|href)="(/static/[^"]+\.(?:js|css))"', page)
    assert names
    for name in names:
        assert re.search(r"\.[0-9a-f]{12}\.\w+$", name), f"{name} has no hash"
    frame = next(name for name in names if "/components" in name)
    answer = visitor.get(frame, headers={"Accept-Encoding": encoding})
    assert (answer.status_code, answer.headers["content-encoding"]) == (200, encoding)
    assert re.fullmatch(r"max-age=\d{8,}, public, immutable", answer.headers["cache-control"])
    # What other sites embed has a name that stays, and is asked for again.
    answer = visitor.get("/static/cms/track.js")
    assert "immutable" not in answer.headers["cache-control"]


def test_pages_work_in_a_browser_from_the_hashed_files(
    site: Site, owner: Person, post: str
) -> None:
    from playwright.sync_api import sync_playwright

    problems: list[str] = []
    scripts: list[str] = []
    flags = [
        "--no-sandbox",
        "--disable-gpu",
        f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{site.port}",
    ]
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        stack.callback(browser.close)
        context = browser.new_context(base_url=f"https://{HOST}", ignore_https_errors=True)
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.on(
            "console", lambda said: problems.append(said.text) if said.type == "error" else None
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "response", lambda answer: problems.append(answer.url) if answer.status > 399 else None
        )
        page.on(
            "request",
            lambda asked: scripts.append(asked.url) if asked.resource_type == "script" else None,
        )

        page.goto("/admin/login/?next=/admin/")
        page.fill("#id_username", EMAIL)
        page.fill("#id_password", PASSWORD)
        page.press("#id_password", "Enter")
        page.wait_for_url(f"https://{HOST}/admin/")
        for path in (
            f"/admin/content/post/{post}/change/",
            "/admin/media/asset/",
            "/blog/first-light",
        ):
            scripts.clear()
            page.goto(path, wait_until="networkidle")
            own = [script for script in scripts if "/static/cms/" in script]
            assert own, path
            assert len(own) == len(set(own)), own
            plain = [script for script in own if not re.search(r"\.[0-9a-f]{12}\.js$", script)]
            assert plain == [], path

    assert problems == []


def test_no_process_has_more_connections_than_the_page_says(site: Site) -> None:
    """Eleven per process, after all requests of the tests above."""
    with psycopg.connect(site.environment.variables["DATABASE_URL"]) as connection:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        [row] = connection.execute(query).fetchall()
    # Two web servers of two workers, sockets, two workers, beat and the MCP server.
    assert 9 <= row[0] <= 9 * 11


def test_a_scheduled_post_goes_live(owner: Person, scheduled: str) -> None:
    def is_live() -> bool:
        return owner.http.get(f"/api/public/posts/{scheduled}").status_code == 200

    until("a publication at its time", is_live, 150)
