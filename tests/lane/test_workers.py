"""Workers that take agents' work and other work cannot use the role, and say so."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest

from cms_project.celery import warn_of_mixed_queues
from proofroom.core.lane.checks import mixed_workers
from tests.agents.environment import set_env


class _Inspected:
    """Workers as they answer the question for their queues."""

    def __init__(self, **queues: list[str]) -> None:
        self.control, self._queues = self, queues

    def inspect(self, timeout: float) -> _Inspected:
        return self

    def active_queues(self) -> dict[str, list[dict[str, str]]]:
        return {
            worker: [{"name": name} for name in names] for worker, names in self._queues.items()
        }


def test_workers_with_mixed_queues_are_named(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = _Inspected(one=["agents"], two=["celery", "deliveries"], three=["agents", "celery"])
    monkeypatch.setattr("proofroom.core.lane.checks.task_app", lambda: app)

    set_env(settings, redis_url=None)
    unasked = mixed_workers()
    set_env(settings, redis_url="redis://127.0.0.1:1/0")

    assert (unasked, mixed_workers()) == ([], ["three"])


@pytest.mark.parametrize(
    ("queues", "url", "warnings"),
    [
        ("agents,celery", "postgresql://proofroom_lane@db/cms", 1),
        ("agents", "postgresql://proofroom_lane@db/cms", 0),
        ("celery,deliveries", "postgresql://proofroom_lane@db/cms", 0),
        ("agents,celery", None, 0),
    ],
)
def test_a_worker_warns_at_its_start(
    queues: str,
    url: str | None,
    warnings: int,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    set_env(settings, lane_database_url=url)
    monkeypatch.setattr(sys, "argv", ["celery", "-A", "cms_project", "worker", "--queues", queues])

    with caplog.at_level(logging.WARNING):
        warn_of_mixed_queues()

    assert len(caplog.records) == warnings
