"""The recipe for Varnish of docs/frontend.md, with a real Varnish before a real site."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import httpx
import pytest

from tests.deployment.site import SECRETS, until
from tests.deployment.written import DOCS, ROOT, blocks
from tests.faults.processes import Site, own_database, prepare
from tests.ports import free_port

VARNISHD: Final = shutil.which("varnishd") or shutil.which("varnishd", path="/usr/sbin")
pytestmark = [
    pytest.mark.deployment,
    pytest.mark.skipif(VARNISHD is None, reason="Varnish is not installed"),
]
PAGE: Final = DOCS / "frontend.md"
HEADING: Final = "## Varnish"
SECRET: Final = "only-for-tests-" + "v" * 20
BROWSERS: Final = ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html,image/avif,*/*;q=0.8")
"""What two browsers accept."""


@dataclass
class Front:
    """A Varnish, and the receiver of webhooks that drops pages from it."""

    visitors: httpx.Client
    purge: str
    """Address of the socket of the receiver."""
    hook: str

    def is_stored(self, path: str, accept: str = BROWSERS[0]) -> bool:
        """Return whether Varnish already had the answer."""
        answer = self.visitors.get(path, headers={"Accept": accept})
        assert answer.status_code == 200, (path, answer.text)
        return len(answer.headers["x-varnish"].split()) == 2


@contextmanager
def front(folder: Path, backend: int, **receiver: str) -> Iterator[Front]:
    """Start Varnish and the receiver with the configuration and commands of the page, before a port."""
    port, purge, hook = free_port(), free_port(), free_port()
    vcl = blocks(PAGE, "vcl", HEADING)[0]
    assert vcl.count('"8000"') == 1
    (folder / "default.vcl").write_text(vcl.replace('"8000"', f'"{backend}"'))
    commands = [block.removeprefix("$ ") for block in blocks(PAGE, "console", HEADING)[:2]]
    for written, used in {
        "/etc/varnish/default.vcl": str(folder / "default.vcl"),
        "-a 127.0.0.1:6081": f"-a 127.0.0.1:{port} -n {folder}/varnish",
        ":6083": f":{purge}",
        " 8090": f" {hook}",
        "…": SECRET,
        # Its own account may not read the folders of tests.
        "varnishd ": f"{VARNISHD} -j none ",
    }.items():
        assert any(written in command for command in commands), written
        commands = [command.replace(written, used) for command in commands]
    log = (folder / "varnish.log").open("ab")
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            words = ["sh", "-c", f"exec env {command}"]
            processes.append(
                subprocess.Popen(
                    words, cwd=ROOT, env={**os.environ, **receiver}, stdout=log, stderr=log
                )
            )
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as visitors:
            found = Front(visitors, f"http://127.0.0.1:{purge}", f"http://127.0.0.1:{hook}/")
            for address in (found.purge, found.hook):
                until(f"an answer of {address}", lambda at=address: _answers(at, processes))  # type: ignore[misc]
            yield found
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(15)
        log.close()


def _answers(address: str, processes: Iterable[subprocess.Popen[bytes]]) -> bool:
    assert all(process.poll() is None for process in processes), "a process has ended: varnish.log"
    try:
        httpx.get(address, timeout=30)
    except httpx.TransportError:
        return False
    return True


_CONTENT: Final = """
from proofroom.core.outbox.dispatch import sweep
from proofroom_apps.menus.services import create_menu
term = make.term("Soil")
about = make.post("About soil", slug="about-soil", taxonomyTermIds=[str(term.pk)])
company = make.post("Acme", slug="acme", type="company")
items = [{"type": "custom", "label": "Shop", "url": "/shop"}]
menu = create_menu(actor=make.actor("admin"), name="Main", slug="main", locale="en", items=items)
# The webhook of a test hears of nothing that happened before it.
sweep(60)
made = {"post": post, "about": about, "company": company, "term": term, "menu": menu}
print(json.dumps({"token": secret, **{name: str(row.pk) for name, row in made.items()}}))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, dict[str, str]]]:
    """Yield a site with a worker, and the ids of its content."""
    folder = tmp_path_factory.mktemp("site")
    with own_database("varnish") as database:
        found = Site(
            folder, database, DJANGO_SETTINGS_MODULE="cms_project.settings",
            OUTGOING_ALLOWED_HOSTS="127.0.0.1", **SECRETS,
        )  # fmt: skip
        try:
            found.start("redis")
            ids: dict[str, str] = found.ask(prepare("First") + _CONTENT)
            found.start("web")
            found.start("worker")
            found.wait_for_web()
            yield found, ids
        finally:
            found.stop()


def test_a_change_drops_what_shows_it_and_nothing_else(
    site: tuple[Site, dict[str, str]], tmp_path: Path
) -> None:
    running, ids = site
    of_post = {"post page": "/blog/a-post", "post": f"/api/public/posts/{ids['post']}"}
    of_about = {"about page": "/blog/about-soil", "about": f"/api/public/posts/{ids['about']}"}
    of_lists = {"list page": "/blog", "list": "/api/public/posts?type=blog"}
    addresses = {
        **of_post, **of_about, **of_lists,
        "company page": "/companies/acme", "company": f"/api/public/posts/{ids['company']}",
        "companies": "/api/public/posts?type=company",
        "menu": "/api/menus/by-slug/main", "term": f"/api/public/terms/{ids['term']}",
    }  # fmt: skip
    with ExitStack() as stack:
        # The second time would fall into a later step.
        before = stack.enter_context(front(tmp_path, running.port, AGAIN_AFTER="3600"))
        owner = stack.enter_context(
            httpx.Client(
                base_url=f"http://127.0.0.1:{running.port}",
                headers={"Authorization": f"Bearer {ids['token']}"},
                timeout=60,
            )
        )

        def send(method: str, path: str, **body: Any) -> Any:
            answer = owner.request(method, path, json=body or None)
            assert answer.status_code < 300, answer.text
            return answer.json()

        def delivered() -> int:
            rows = send("GET", "/api/webhook-deliveries?per_page=100")["data"]
            return sum(row["status"] == "succeeded" for row in rows)

        def dropped_by(method: str, path: str, **body: Any) -> set[str]:
            """Return the names of the answers that Varnish no longer has after a change."""
            for address in addresses.values():
                before.is_stored(address)
            assert all(before.is_stored(address) for address in addresses.values())
            calls = delivered()
            send(method, path, **body)
            until("the call of the webhook", lambda: delivered() > calls)
            return {name for name, address in addresses.items() if not before.is_stored(address)}

        hook = {"name": "Varnish", "url": before.hook, "events": ["content.changed"]}
        send("POST", "/api/webhooks", **hook, secret=SECRET)

        post = dropped_by("PUT", f"/api/posts/{ids['post']}", title="Second")
        # A term counts the posts that have it.
        assert post == {*of_post, *of_lists, "term"}
        assert "Second" in before.visitors.get("/blog/a-post").text
        term = dropped_by("PATCH", f"/api/taxonomy-terms/{ids['term']}", name="Earth")
        assert term == {*of_about, *of_lists, "term"}
        menu = dropped_by("PUT", f"/api/menus/{ids['menu']}", name="Main", items=[])
        assert menu == {"post page", "about page", "list page", "company page", "menu"}


def test_browsers_share_a_page_and_what_is_not_public_is_never_stored(
    site: tuple[Site, dict[str, str]], tmp_path: Path
) -> None:
    running, _ = site
    with front(tmp_path, running.port) as before:
        visitors = before.visitors
        before.is_stored("/blog/a-post")
        assert before.is_stored("/blog/a-post", BROWSERS[1])
        markdown = visitors.get("/blog/a-post", headers={"Accept": "text/markdown"})
        assert markdown.headers["content-type"].startswith("text/markdown")
        page = visitors.get("/blog/a-post")
        assert "age" not in page.headers
        assert "cache-tag" not in page.headers
        for path in ("/admin/login/", "/health"):
            assert [before.is_stored(path) for _ in range(3)] == [False] * 3, path
        # A form whose token is in a cookie.
        visitors.get("/admin/login/")
        token = visitors.cookies["csrftoken"]
        form = {"username": "nobody", "password": "wrong", "csrfmiddlewaretoken": token}
        assert visitors.post("/admin/login/", data=form).status_code == 200
        # Only the receiver may drop pages, whatever is in front of Varnish.
        assert visitors.request("BAN", "/", headers={"X-Ban": "."}).status_code == 403
        assert before.is_stored("/blog/a-post")


class _SlowAnswer(BaseHTTPRequestHandler):
    """Answers the number of the request for `/page`, the first one late."""

    count = 0
    is_asked, goes_on = Event(), Event()

    def do_GET(self) -> None:
        cls = type(self)
        cls.count += self.path == "/page"
        body = str(cls.count).encode()
        if cls.count == 1 and self.path == "/page":
            cls.is_asked.set()
            cls.goes_on.wait(30)
        self.send_response(200)
        self.send_header("Cache-Control", "public, max-age=60")
        self.send_header("Cache-Tag", "menu:main,post:1-2,site")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_an_answer_that_was_on_its_way_during_the_change_is_dropped_too(tmp_path: Path) -> None:
    backend = ThreadingHTTPServer(("127.0.0.1", 0), _SlowAnswer)
    Thread(target=backend.serve_forever, daemon=True).start()
    body = json.dumps({"event": "content.changed", "data": {"tags": ["post:1-2"]}}).encode()
    signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    try:
        with (
            front(tmp_path, backend.server_port, AGAIN_AFTER="2") as before,
            ThreadPoolExecutor(1) as visitor,
        ):
            old = visitor.submit(before.visitors.get, "/page")
            assert _SlowAnswer.is_asked.wait(30)
            refused = httpx.post(before.hook, content=body, headers={"X-Hub-Signature-256": "no"})
            assert refused.status_code == 401
            call = httpx.post(before.hook, content=body, headers={"X-Hub-Signature-256": signature})
            assert call.status_code == 204
            _SlowAnswer.goes_on.set()
            assert old.result(30).text == "1"

            until("the new answer", lambda: before.visitors.get("/page").text == "2", 30)
            assert before.is_stored("/page")
    finally:
        _SlowAnswer.goes_on.set()
        backend.shutdown()
        backend.server_close()
