"""PostgreSQL is stopped, started and restarted under real processes: no process blocks or uses dead connections."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import anyio
import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.fake_provider import FakeProvider, Reply, serving
from tests.faults.postgresql import OwnPostgresql, own_postgresql
from tests.faults.processes import Site, prepare
from tests.make import PASSWORD

METRICS_TOKEN: Final = "token-of-prometheus"

pytestmark = pytest.mark.services
AT_LATEST: Final = 3.0
AGENT: Final = """---
name: Titles
scopes: [{scope: dropdown}]
llmConfig: {providerText: openai}
---
You write titles.
"""


@dataclass
class Running:
    site: Site
    server: OwnPostgresql
    provider: FakeProvider
    http: httpx.Client
    sockets: str
    mcp: str
    post_id: str
    cookie: str

    def get(self, path: str) -> httpx.Response:
        return self.http.get(path)

    def stage(self, title: str) -> Any:
        return anyio.run(self._stage, title)

    async def _stage(self, title: str) -> Any:
        async with Client(streamable_http_client(f"{self.mcp}/mcp")) as client:
            arguments = {"postId": self.post_id, "patch": {"metaTitle": title}}
            return await client.call_tool("save_post_ai_review", arguments)

    def run_agent(self) -> str:
        answer = self.http.post(f"/api/posts/{self.post_id}/agents/titles/run", json={})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def end_of(self, run_id: str) -> Any:
        until = time.monotonic() + 60
        while (run := self.get(f"/api/agent-runs/{run_id}").json())["status"] in (
            "queued",
            "running",
        ):
            assert time.monotonic() < until, (run, self.site.log("worker"))
            time.sleep(0.1)
        return run


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run web, sockets, MCP server and worker on a separate database, after each has queried it."""
    folder = tmp_path_factory.mktemp("away")
    agents = folder / "agents"
    agents.mkdir()
    (agents / "titles.md").write_text(AGENT)
    with (
        own_postgresql() as server,
        serving(Reply({"post": {"metaTitle": "A title"}})) as provider,
    ):
        site = Site(
            folder,
            server.url,
            CMS_AGENTS_DIR=str(agents),
            THROTTLE_MCP="off",
            METRICS_TOKEN=METRICS_TOKEN,
            AI_PROVIDER_OPENAI_API_KEY="sk-canary-never-shown-1234567890",
            AI_PROVIDER_OPENAI_BASE_URL=provider.openai_url,
        )
        try:
            yield _start(site, server, provider)
        finally:
            site.stop()


def _start(site: Site, server: OwnPostgresql, provider: FakeProvider) -> Running:
    site.start("redis")
    made = site.ask(prepare("A post"))
    for name in ("web", "sockets", "mcp", "worker"):
        site.start(name)
    site.wait_for_web()
    site.wait_for_sockets()
    site.wait_for_mcp()
    url = f"http://127.0.0.1:{site.port}"
    with httpx.Client(base_url=url) as browser:
        body = {"email": "admin@example.com", "password": PASSWORD}
        assert browser.post("/api/auth/login", json=body).status_code == 200
        cookie = f"sessionid={browser.cookies['sessionid']}"
    http = httpx.Client(
        base_url=url, headers={"Authorization": f"Bearer {made['token']}"}, timeout=30
    )
    sockets, mcp = f"http://127.0.0.1:{site.sockets_port}", f"http://127.0.0.1:{site.mcp_port}"
    found = Running(site, server, provider, http, sockets, mcp, made["post"], cookie)
    # So that every process has connections.
    with ThreadPoolExecutor(4) as pool:
        assert {answer.status_code for answer in pool.map(found.get, ["/blog/a-post"] * 8)} == {200}
    assert not found.stage("Before").is_error
    with _page(found) as page:
        assert "hello" in json.loads(page.recv(timeout=20))
    assert found.end_of(found.run_agent())["status"] == "succeeded"
    return found


def _page(running: Running) -> Any:
    url = running.sockets.replace("http", "ws", 1)
    return connect(
        f"{url}/ws/events/",
        origin=running.sockets,
        additional_headers={"Cookie": running.cookie},
        open_timeout=20,
    )


def _asked(url: str, method: str = "GET", **given: Any) -> httpx.Response:
    """Return the answer, which must arrive in time."""
    begin = time.monotonic()
    answer = httpx.request(method, url, timeout=10, **given)
    assert time.monotonic() - begin < AT_LATEST, url
    return answer


def _is_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 503, (answer.url, answer.status_code, answer.text[:500])
    assert int(answer.headers["Retry-After"]) > 0
    assert "Traceback" not in answer.text


def test_during_an_outage_callers_are_asked_to_retry(running: Running) -> None:
    url, token = f"http://127.0.0.1:{running.site.port}", dict(running.http.headers)
    running.server.stop("immediate")
    try:
        for path in ("/blog/a-post", "/nothing-here", "/admin/", "/sitemap.xml", "/preview/x"):
            answer = _asked(url + path, headers={"Cookie": running.cookie})
            _is_refused(answer)
            assert answer.headers["Content-Type"].startswith("text/html"), path
        for path in ("/api/posts", f"/api/posts/{running.post_id}", "/api/public/posts"):
            answer = _asked(url + path, headers=token)
            _is_refused(answer)
            assert set(answer.json()) == {"error", "code", "details"}
            assert answer.json()["code"] == "unavailable"
        body = {"title": "Lost"}
        _is_refused(_asked(f"{url}/api/posts/{running.post_id}", "PUT", json=body, headers=token))
        _is_refused(_asked(f"{running.sockets}/blog/a-post"))
        call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        time.sleep(1.1)  # for so long the MCP server believes what it knew
        _is_refused(_asked(f"{running.mcp}/mcp", "POST", json=call))
        begin = time.monotonic()
        with pytest.raises(InvalidStatus) as refused, _page(running):
            pass
        assert time.monotonic() - begin < AT_LATEST
        assert refused.value.response.status_code == 503
        assert int(refused.value.response.headers["Retry-After"]) > 0
        # Many at once, more than there are threads, do not wait either.
        with ThreadPoolExecutor(12) as pool:
            for answer in pool.map(_asked, [f"{url}/blog/a-post"] * 24):
                _is_refused(answer)
    finally:
        running.server.start()

    assert running.get("/blog/a-post").status_code == 200


def test_the_checks_of_health_name_what_is_missing(running: Running) -> None:
    places = [f"http://127.0.0.1:{running.site.port}", running.sockets, running.mcp]
    for place in places:
        assert _asked(f"{place}/health/ready").json() == {"status": "ready", "missing": []}
    running.server.stop()
    try:
        for place in places:
            for path in ("/health", "/health/live"):
                assert _asked(place + path).json() == {"status": "ok"}
            answer = _asked(f"{place}/health/ready")
            _is_refused(answer)
            assert answer.json()["missing"] == ["database"]
            assert answer.json()["error"] == "Cannot be reached: database."
            assert "proofroom_database_up 0.0" in _metrics(place)
    finally:
        running.server.start()

    for place in places:
        assert _asked(f"{place}/health/ready").status_code == 200
        assert "proofroom_database_up 1.0" in _metrics(place)
        assert "proofroom_events_due " in _metrics(place)


def test_a_database_that_takes_questions_and_says_nothing_is_named_too(running: Running) -> None:
    places = [f"http://127.0.0.1:{running.site.port}", running.sockets, running.mcp]
    with running.server.frozen():
        for place in places:
            # The second one meets the first, which still waits.
            for _ in range(2):
                answer = _asked(f"{place}/health/ready")
                assert (answer.status_code, answer.json()["missing"]) == (503, ["database"])
            assert _asked(f"{place}/health/live").status_code == 200
            assert "proofroom_database_up 0.0" in _metrics(place)

    for place in places:
        # Requests from before the recovery may still fail.
        while _asked(f"{place}/health/ready").status_code != 200:
            time.sleep(0.1)


def _metrics(place: str) -> str:
    """Return the answer to Prometheus."""
    headers = {"Authorization": f"Bearer {METRICS_TOKEN}"}
    answer = httpx.get(f"{place}/health/metrics", headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("way", ["fast", "immediate"])
def test_after_a_restart_the_first_call_of_each_succeeds(running: Running, way: Any) -> None:
    with ThreadPoolExecutor(4) as pool:  # several idle connections
        list(pool.map(running.get, ["/blog/a-post"] * 12))
    with _page(running) as page:
        assert "hello" in json.loads(page.recv(timeout=20))
        running.server.restart(way)

        written = running.http.put(f"/api/posts/{running.post_id}", json={"title": f"After {way}"})

        assert written.status_code == 200, written.text
        staged = running.stage(f"Staged after {way}")
        assert not staged.is_error, staged.content
        # The open page was never closed, and hears of the write.
        while "event" not in (message := json.loads(page.recv(timeout=20))):
            pass
        assert message["event"].startswith("post.")
    for path in ("/blog/a-post", "/api/posts", "/api/public/posts"):
        assert {running.get(path).status_code for _ in range(6)} == {200}


def test_a_run_that_waits_for_its_model_outlives_a_restart(running: Running) -> None:
    held = threading.Event()
    running.provider.replies[:] = [Reply({"post": {"metaTitle": "Kept"}}, held=held)]
    running.provider.began.clear()
    run_id = running.run_agent()
    assert running.provider.began.wait(30)

    running.server.restart("immediate")
    held.set()

    run = running.end_of(run_id)
    assert (run["status"], run["error"] or "") == ("succeeded", "")
    assert run["staged"] == ["post.metaTitle"]


SWEEP: Final = """
from datetime import timedelta
from django.db.models import F
from agents_app.models import AgentRun
from agents_app.runs.lifecycle import sweep_runs
AgentRun.objects.filter(status="running").update(heartbeat_at=F("heartbeat_at") - timedelta(minutes=5))
print(sweep_runs())
"""


def test_a_run_whose_model_answers_in_an_outage_gets_another_attempt(running: Running) -> None:
    held = threading.Event()
    running.provider.replies[:] = [Reply({"post": {"metaTitle": "Later"}}, held=held)]
    running.provider.began.clear()
    run_id = running.run_agent()
    assert running.provider.began.wait(30)

    running.server.stop("immediate")
    try:
        held.set()
        until = time.monotonic() + 60
        said = f"run {run_id}: the database cannot be reached"
        while said not in running.site.whole_log("worker"):
            assert time.monotonic() < until, running.site.log("worker")
            time.sleep(0.1)
    finally:
        running.server.start()
    assert running.get(f"/api/agent-runs/{run_id}").json()["status"] == "running"
    running.site.ask(SWEEP)

    run = running.end_of(run_id)
    assert (run["status"], run["error"] or "") == ("succeeded", "")
    assert run["staged"] == ["post.metaTitle"]


def test_processes_that_start_meanwhile_come_to_work_by_themselves(running: Running) -> None:
    running.server.stop()
    try:
        for name in ("web", "mcp"):
            running.site.kill(name)
            running.site.start(name)
        running.site.wait_for_web()
        running.site.wait_for_mcp()
        _is_refused(_asked(f"http://127.0.0.1:{running.site.port}/blog/a-post"))
    finally:
        running.server.start()

    assert running.get("/blog/a-post").status_code == 200
    assert not running.stage("After a late start").is_error
