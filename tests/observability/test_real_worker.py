"""A real worker: Celery's own logs carry the ids of their work, and Prometheus gets the metrics."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.commands import run_command
from tests.migrated import give_database
from tests.ports import free_port
from tests.served import ROOT, environ

PROBE = """
import time
from cms_project.celery import app
from proofroom.core.observability.work_ids import bind_ids

@app.task(name="probe.works")
def works():
    return 1

@app.task(name="probe.fails")
def fails():
    raise ValueError("as it should")

@app.task(name="probe.tries_again", bind=True)
def tries_again(self):
    if not self.request.retries:
        raise self.retry(countdown=0)

@app.task(name="probe.hangs", time_limit=1)
def hangs():
    time.sleep(60)

if __name__ == "__main__":
    alone = works.delay().id
    ids = {"request_id": "request-1", "run_id": "run-1", "cause_id": 7}
    found = {}
    for task in (works, fails, tries_again, hangs):
        with bind_ids(ids):
            found[task.name] = task.delay().id
    print(alone, *found.values())
"""
NAMES = ("works", "fails", "tries_again", "hangs")
OF_WORK = {"request_id": "request-1", "run_id": "run-1", "cause_id": "7"}
WAIT = 120.0
TOKEN = "token-of-prometheus"


class Worker:
    """A multi-process worker, and its JSON log."""

    def __init__(self, folder: Path, pool: str) -> None:
        self.pool, self.metrics_port = pool, free_port()
        (folder / "probe.py").write_text(PROBE)
        self._log = folder / "worker.log"
        self._environ = {
            **environ(folder), "LOG_FORMAT": "json", "PYTHONPATH": f"{folder}:{ROOT}",
            "METRICS_TOKEN": TOKEN, "WORKER_METRICS_PORT": str(self.metrics_port),
        }  # fmt: skip
        self._folder = folder
        with self._log.open("wb") as written:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "celery", "--quiet", "-A", "probe", "worker",
                 f"--pool={pool}", "--concurrency=1", "--without-mingle", "--without-gossip",
                 "--loglevel=INFO"],
                cwd=folder, env=self._environ, stdout=written, stderr=written, start_new_session=True,
            )  # fmt: skip

    def send(self) -> list[str]:
        """Send every task. Return the id of one without related work, and of others with it."""
        done = run_command(
            [sys.executable, "probe.py"], cwd=self._folder, env=self._environ, timeout=WAIT
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    def lines_about(self, task_id: str, *words: str) -> list[dict[str, str]]:
        """Return Celery's log lines of a task, after waiting for all these words."""
        until = time.monotonic() + WAIT
        while True:
            text = self._log.read_text()
            records = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
            found = [
                one
                for one in records
                if task_id in (*one["message"].replace("]", "[").split("["), one.get("task_id"))
                and one["logger"].startswith("celery")
            ]
            told = " ".join(one["message"] for one in found)
            if all(word in told for word in words):
                return found
            assert time.monotonic() < until, text
            time.sleep(0.1)

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)


@pytest.fixture(scope="module", params=["prefork", "threads"])
def worker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Worker]:
    folder = tmp_path_factory.mktemp("site")
    give_database(folder)
    worker = Worker(folder, request.param)
    yield worker
    worker.stop()


def test_every_line_about_a_task_has_its_ids(worker: Worker) -> None:
    alone, *ids = worker.send()
    of = dict(zip(NAMES, ids, strict=True))
    words = {
        "works": ("received", "succeeded"),
        "fails": ("received", "raised unexpected"),
        "tries_again": ("received", "retry:", "succeeded"),
    }
    if worker.pool == "prefork":  # only a process can be ended
        words["hangs"] = ("received", "Hard time limit", "Task handler raised error")

    for name, all_of in words.items():
        for line in worker.lines_about(of[name], *all_of):
            assert {key: line.get(key) for key in OF_WORK} == OF_WORK, line
            assert line["task_id"] == of[name], line

    for line in worker.lines_about(alone, "succeeded"):
        assert line["task_id"] == alone
        assert not OF_WORK.keys() & line.keys(), line


def test_prometheus_gets_the_workers_metrics(worker: Worker) -> None:
    worker.lines_about(worker.send()[0], "succeeded")
    url = f"http://127.0.0.1:{worker.metrics_port}/health/metrics"

    answer = httpx.get(url, headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False)

    assert answer.status_code == 200
    assert 'proofroom_task_duration_seconds_count{outcome="ok",task="probe.works"}' in answer.text
    assert "proofroom_events_due 0.0" in answer.text
    for refused, status in (
        (url, 401),
        (f"{url}/more", 404),
        (f"http://127.0.0.1:{worker.metrics_port}/", 404),
    ):
        answer = httpx.get(refused, trust_env=False)
        assert (answer.status_code, "proofroom_" in answer.text) == (status, False)
