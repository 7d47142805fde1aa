"""A worker is killed during a run: a real Celery worker, the file queue, a real database file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fake_provider import FakeProvider, Reply, serving
from tests.migrated import give_database

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-canary-never-shown-1234567890"
ANSWER = """
import json, sys, django
django.setup()
for line in sys.stdin:
    names = {}
    exec(json.loads(line), names)
    print(json.dumps(names["answer"]), flush=True)
"""
BEGIN = """
from agents_app.runs.creation import create_run
from tests import make
post = make.post()
run = create_run(agent_id="seo-specialist", scope="dropdown", actor=make.actor("editor"), post_id=post.pk)
answer = {"run": str(run.pk), "hash": make.live_hash()}
"""
LOOK = """
from agents_app.models import AgentRun
from content.models import Draft
from proofroom.core.models import Event
from tests import make
run = AgentRun.objects.get()
answer = {
    "status": run.status, "attempts": run.attempts, "staged": run.staged, "error": run.error,
    "drafts": list(Draft.objects.values_list("version", flat=True)),
    "saves": Event.objects.filter(name="post.ai-review.save").count(),
    "hash": make.live_hash(),
}
"""
SWEEP = """
from datetime import timedelta
from django.db.models import F
from agents_app.models import AgentRun
from agents_app.runs.lifecycle import sweep_runs
AgentRun.objects.filter(heartbeat_at__isnull=False).update(heartbeat_at=F("heartbeat_at") - timedelta(minutes=5))
answer = sweep_runs()
"""


class Site:
    """A separate site in a folder, controlled from outside."""

    def __init__(self, folder: Path, provider: FakeProvider) -> None:
        self.folder = folder
        self.environ = {
            **os.environ,
            "CMS_DATA_DIR": str(folder),
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "DJANGO_SETTINGS_MODULE": "cms_project.settings",
            "AI_PROVIDER_OPENAI_API_KEY": KEY,
            "AI_PROVIDER_OPENAI_BASE_URL": provider.openai_url,
        }
        self.workers: list[subprocess.Popen[bytes]] = []
        self.process: subprocess.Popen[str] | None = None

    def ask(self, script: str) -> Any:
        """Return the script's variable `answer`, evaluated in one process beside the worker."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-c", ANSWER], cwd=ROOT, env=self.environ, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(script) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def start_worker(self) -> subprocess.Popen[bytes]:
        log = (self.folder / f"worker{len(self.workers)}.log").open("wb")
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "cms_project", "worker", "--pool=threads",
             "--concurrency=1", "--without-mingle", "--without-gossip", "--loglevel=INFO"],
            cwd=ROOT, env=self.environ, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def wait_until(self, status: str, seconds: float = 40) -> Any:
        until = time.monotonic() + seconds
        while (found := self.ask(LOOK))["status"] != status:
            assert time.monotonic() < until, found
            time.sleep(0.3)
        return found

    def logs(self) -> str:
        files = [*self.folder.glob("worker*.log"), *self.folder.glob("logs/*.log")]
        return "\n".join(path.read_text(errors="replace") for path in files)


def _kill(worker: subprocess.Popen[bytes]) -> None:
    """Kill the worker with all its children, like a power loss."""
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(10)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with serving(Reply({"post": {"metaTitle": "Never"}}, delay=60)) as fake:
        yield fake


@pytest.fixture
def site(tmp_path: Path, provider: FakeProvider) -> Iterator[Site]:
    give_database(tmp_path)
    site = Site(tmp_path, provider)
    yield site
    if site.process is not None:
        site.process.kill()
        site.process.communicate()
    for worker in site.workers:
        if worker.poll() is None:
            _kill(worker)


def test_a_killed_worker_leaves_nothing_staged_and_the_run_is_retried_once(
    site: Site, provider: FakeProvider
) -> None:
    begun = site.ask(BEGIN)
    worker = site.start_worker()
    assert provider.began.wait(60), site.logs()

    _kill(worker)

    dead = site.ask(LOOK)
    assert (dead["status"], dead["attempts"], dead["drafts"], dead["saves"]) == (
        "running",
        1,
        [],
        0,
    )

    provider.replies[:] = [Reply({"post": {"metaTitle": "At last"}})]
    assert site.ask(SWEEP) == 1
    site.start_worker()
    done = site.wait_until("succeeded")

    assert (done["attempts"], done["staged"], done["drafts"], done["saves"]) == (
        2,
        ["post.metaTitle"],
        [1],
        1,
    )
    assert done["hash"] == begun["hash"]
    assert KEY not in site.logs()


def test_a_worker_killed_twice_leaves_the_run_failed(site: Site, provider: FakeProvider) -> None:
    begun = site.ask(BEGIN)
    for attempt in (1, 2):
        worker = site.start_worker()
        assert provider.began.wait(60), site.logs()
        _kill(worker)
        provider.began.clear()
        assert site.ask(LOOK)["attempts"] == attempt
        assert site.ask(SWEEP) == 1

    found = site.ask(LOOK)

    assert (found["status"], found["staged"], found["drafts"]) == ("failed", [], [])
    assert "stopped in the middle" in found["error"]
    assert found["hash"] == begun["hash"]
