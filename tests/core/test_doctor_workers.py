"""The doctor's check of the queues served by workers."""

from __future__ import annotations

import pytest
from celery.contrib.testing.worker import start_worker

from cms_project.celery import app
from proofroom.core.diagnostics.doctor import CheckResult, workers

pytestmark = pytest.mark.services


def test_a_queue_without_a_worker_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("proofroom.core.diagnostics.doctor.WORKERS_ANSWER_WITHIN", (0.1,))
        nobody = list(workers())
    with start_worker(app, queues=["celery", "deliveries"], perform_ping_check=False):
        some = list(workers())
        app.control.add_consumer("agents", reply=True, timeout=10.0, limit=1)
        all_of_them = list(workers())

    assert [finding.found for finding in nobody] == [
        f"none takes from the queue {name}" for name in ("celery", "deliveries", "agents")
    ]
    advice = "start a worker with --queues agents"
    assert some == [CheckResult("warn", "workers", "none takes from the queue agents", advice)]
    assert all_of_them == [CheckResult("ok", "workers", "take from every queue")]


def test_a_worker_that_answers_late_is_none_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []

    class Late:
        def __init__(self, timeout: float) -> None:
            asked.append(timeout)

        def active_queues(self) -> dict[str, list[dict[str, str]]] | None:
            names = ["celery", "deliveries", "agents"]
            return {"late": [{"name": name} for name in names]} if len(asked) == 3 else None

    monkeypatch.setattr(app.control, "inspect", Late)
    assert list(workers()) == [CheckResult("ok", "workers", "take from every queue")]
