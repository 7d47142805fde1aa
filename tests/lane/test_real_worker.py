"""A worker process under the role of agents completes a run, directly and behind PgBouncer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
import pytest

from proofroom.core.lane import ROLE
from tests.agents.asking import KEY
from tests.commands import ROOT, run_command
from tests.fake_provider import FakeProvider, Reply, serving
from tests.faults.processes import own_database
from tests.lane.role import PASSWORD
from tests.migrated import migrated_database
from tests.ports import free_port

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(not os.environ.get("DATABASE_URL"), reason="needs DATABASE_URL"),
]

_SECONDS: Final = 120.0
START: Final = """
from agents_app.ai_settings import update_ai_settings
from agents_app.runs.creation import create_run
from tests import make
update_ai_settings(actor=make.actor("admin"), text_provider="openai", fallback_provider="anthropic")
post = make.post()
run = create_run(agent_id="seo-specialist", scope="dropdown", actor=make.actor("editor"), post_id=post.pk)
print(run.pk)
"""
LOOK: Final = """
import json
from agents_app.models import AgentRun, ProviderPause, Spending
from tests import make
run = AgentRun.objects.select_related("post").get()
layers = make.layers(run.post)
print(json.dumps({
    "status": run.status, "error": run.error, "staged": run.staged, "provider": run.provider,
    "title": layers.ai_review.document.fields["metaTitle"], "live": layers.live.fields["metaTitle"],
    "review": layers.review.exists, "steps": run.steps.count(), "pauses": ProviderPause.objects.count(),
    "spent": str(Spending.objects.get().cost) if Spending.objects.exists() else "",
}))
"""


class Site:
    """A site on its own database, with a worker of agents under the role."""

    def __init__(self, folder: Path, address: str, lane_address: str, **extra: str) -> None:
        self._folder, self._address = folder, address
        # Without Redis, messages are files of the folder.
        self._environ = {
            **os.environ,
            "CMS_DATA_DIR": str(folder),
            "DATABASE_URL": address,
            "LANE_DATABASE_URL": lane_address,
            "REDIS_URL": "",
            "DJANGO_SETTINGS_MODULE": "cms_project.settings",
            **extra,
        }

    def manage(self, *words: str) -> str:
        done = run_command([sys.executable, "manage.py", *words], env=self._environ, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, script: str) -> str:
        return self.manage("shell", "--no-imports", "-c", script).strip().rpartition("\n")[2]

    @contextmanager
    def worker(self) -> Iterator[Path]:
        """Run a worker of the queue `agents`, and yield its log."""
        log = self._folder / "worker.log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "cms_project", "worker", "--queues", "agents",
                 "--pool=threads", "--concurrency=1", "--without-mingle", "--without-gossip",
                 "--loglevel=INFO"],
                cwd=ROOT, env=self._environ, stdout=written, stderr=written,
            )  # fmt: skip
            try:
                yield log
            finally:
                process.terminate()
                process.wait(30)

    def connected_roles(self) -> set[str]:
        with psycopg.connect(self._address, autocommit=True) as connection:
            rows = connection.execute(
                "SELECT DISTINCT usename::text FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid != pg_backend_pid()"
            )
            return {row[0] for row in rows}


@pytest.fixture
def address() -> Iterator[str]:
    """Yield the address of a migrated database."""
    template = migrated_database(os.environ["DATABASE_URL"])
    with own_database("lane", template) as found:
        yield found


@pytest.fixture
def providers() -> Iterator[tuple[FakeProvider, FakeProvider]]:
    """Yield a provider with an outage, and its fallback."""
    answer = Reply({"post": {"metaTitle": "Proposed under the role"}, "summary": "Done."})
    with serving(Reply(status=503)) as down, serving(answer) as up:
        yield down, up


def keys_of(providers: tuple[FakeProvider, FakeProvider]) -> dict[str, str]:
    return {
        "AI_PROVIDER_OPENAI_API_KEY": KEY,
        "AI_PROVIDER_OPENAI_BASE_URL": providers[0].openai_url,
        "AI_PROVIDER_ANTHROPIC_API_KEY": KEY,
        "AI_PROVIDER_ANTHROPIC_BASE_URL": providers[1].address,
    }


def lane_address(address: str) -> str:
    server = urlsplit(address)
    name = server.path.removeprefix("/")
    return f"postgresql://{ROLE}:{PASSWORD}@{server.hostname}:{server.port or 5432}/{name}"


def complete_a_run(site: Site) -> Any:
    """Start a run, let the worker complete it, and return its result."""
    site.ask(START)
    with site.worker() as log:
        until = time.monotonic() + _SECONDS
        roles: set[str] = set()
        found: Any = {"status": "queued"}
        while found["status"] in ("queued", "running"):
            assert time.monotonic() < until, (found, log.read_text())
            roles |= site.connected_roles()
            found = json.loads(site.ask(LOOK))
        assert ROLE in roles, log.read_text()
    return found, log.read_text()


def expect_a_proposal(found: Any, log: str) -> None:
    assert (found["status"], found["error"]) == ("succeeded", ""), log
    assert found["staged"] == ["post.metaTitle"]
    assert (found["title"], found["live"], found["review"]) == (
        "Proposed under the role",
        None,
        False,
    )
    assert (found["provider"], found["pauses"], found["steps"]) == ("anthropic", 1, 4)
    assert found["spent"] == "0.003000"
    assert "permission denied" not in log
    assert "Traceback" not in log


def test_a_worker_completes_a_run_with_an_outage(
    tmp_path: Path, address: str, providers: tuple[FakeProvider, FakeProvider]
) -> None:
    site = Site(tmp_path, address, lane_address(address), **keys_of(providers))
    assert "has its rights" in site.manage("install_lane")

    expect_a_proposal(*complete_a_run(site))


@contextmanager
def pooled(folder: Path, lane: str) -> Iterator[str]:
    """Yield the address of the role behind PgBouncer in transaction mode."""
    server, port = urlsplit(lane), free_port()
    name = server.path.removeprefix("/")
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n{name} = host={server.hostname} port={server.port} user={server.username} "
        f"password={server.password}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        "auth_type = any\npool_mode = transaction\nignore_startup_parameters = extra_float_digits\n"
    )
    # It refuses to run as root, and reads its settings as the account that it becomes.
    folder.chmod(0o755)
    account = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = subprocess.Popen(["pgbouncer", "-q", *account, str(settings)])
    try:
        yield f"postgresql://{ROLE}:{PASSWORD}@127.0.0.1:{port}/{name}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="needs PgBouncer")
def test_a_worker_completes_a_run_behind_pgbouncer(
    tmp_path: Path, address: str, providers: tuple[FakeProvider, FakeProvider]
) -> None:
    direct = lane_address(address)
    Site(tmp_path, address, direct).manage("install_lane")
    with pooled(tmp_path, direct) as lane:
        site = Site(tmp_path, address, lane, DATABASE_POOL="0", **keys_of(providers))
        expect_a_proposal(*complete_a_run(site))
