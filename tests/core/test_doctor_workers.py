"""The doctor asks the workers which queues they take from."""

from __future__ import annotations

import pytest
from celery.contrib.testing.worker import start_worker

from cms_project.celery import app
from core.doctor import Finding, workers

pytestmark = pytest.mark.services


def test_a_queue_that_no_worker_takes_from_is_told() -> None:
    with start_worker(app, queues=["celery", "deliveries"], perform_ping_check=False):
        some = list(workers())
    with start_worker(app, queues=["celery", "deliveries", "agents"], perform_ping_check=False):
        all_of_them = list(workers())

    advice = "start a worker with --queues agents"
    told = Finding("warn", "workers", "none takes from the queue agents", advice)
    assert some == [told]
    assert all_of_them == [Finding("ok", "workers", "take from every queue")]
    assert [finding.found for finding in workers()] == [
        f"none takes from the queue {name}" for name in ("celery", "deliveries", "agents")
    ]
