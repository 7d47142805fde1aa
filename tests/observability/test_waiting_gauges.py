"""Gauges and checks of stalled work: a stopped scheduler, and missing agents' workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from errno import ENOSPC
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents_app.models import AgentRun, RunStatus
from agents_app.runs.queries import read_run_metrics
from analytics.health import SWEPT_WITHIN, read_sweep_metrics, scheduler
from analytics.models import RollUp
from analytics.tasks import add_up_events
from cms_project.system_health import worker_and_scheduler
from content.models import Post
from content.posts.schedule import read_overdue_metrics
from proofroom.core.observability import metrics
from proofroom.core.observability.metrics import MetricReading, all_readings, read_metrics
from tests import make

pytestmark = pytest.mark.django_db


def values(readings: Any) -> dict[str, float]:
    found: list[MetricReading] = list(readings)
    return {" ".join([one.name, *one.labels.values()]): one.value for one in found}


def test_a_stopped_scheduler_is_reported(django_assert_num_queries: Any) -> None:
    assert values(read_sweep_metrics()) == {}
    assert [one.found for one in scheduler()] == ["no sweep yet"]

    add_up_events()  # nothing is new, and still it is a sweep
    assert values(read_sweep_metrics())["proofroom_last_sweep_age_seconds"] < 60
    assert [one.level for one in worker_and_scheduler()] == ["ok", "ok"]

    RollUp.objects.update(counted_at=timezone.now() - SWEPT_WITHIN - timedelta(seconds=30))
    with django_assert_num_queries(1):
        age = values(read_sweep_metrics())["proofroom_last_sweep_age_seconds"]
    assert 210 <= age < 300
    [told] = scheduler()
    assert (told.level, told.subject) == ("warn", "scheduler")
    assert told.found.startswith("the last sweep was 2")
    assert told.advice == "start the worker and the scheduler"
    assert told.level in [one.level for one in worker_and_scheduler()]


def test_posts_that_should_be_live_are_counted(django_assert_num_queries: Any) -> None:
    now = timezone.now()
    for title, minutes, state in (
        ("Late", 3, {}),
        ("Due", 1, {}),
        ("Later", -5, {}),
        ("Live", 3, {"status": "published"}),
        ("Gone", 3, {"deleted_at": now}),
    ):
        post = make.post(title, status="draft")
        due = now - timedelta(minutes=minutes)
        Post.objects.filter(pk=post.pk).update(publish_at=due, **state)

    with django_assert_num_queries(1):
        assert values(read_overdue_metrics()) == {"proofroom_posts_overdue": 1}


def test_a_run_without_a_worker_is_reported(django_assert_num_queries: Any) -> None:
    assert values(read_run_metrics()) == {"proofroom_oldest_run_waiting_seconds": 0}
    for status, hours in ((RunStatus.QUEUED, 1), (RunStatus.QUEUED, 2), (RunStatus.RUNNING, 9)):
        run = AgentRun.objects.create(agent_id="seo-specialist", scope="post", status=status)
        AgentRun.objects.filter(pk=run.pk).update(queued_at=timezone.now() - timedelta(hours=hours))

    with django_assert_num_queries(1):
        found = values(read_run_metrics())

    age = found.pop("proofroom_oldest_run_waiting_seconds")
    assert found == {"proofroom_runs queued": 2, "proofroom_runs running": 1}
    assert 7_200 <= age < 7_300


def test_gauges_that_cannot_be_read_keep_no_others_back(caplog: pytest.LogCaptureFixture) -> None:
    assert values(all_readings())["proofroom_readings_failed"] == 0

    def broken() -> Iterator[MetricReading]:
        yield MetricReading("tests_half", "Never told.", 1)
        raise ZeroDivisionError

    def other() -> Iterator[MetricReading]:
        yield MetricReading("tests_other", "Told.", 2)

    with read_metrics.registered_temporarily(broken, other, alone=True):
        found = values(all_readings())

    assert found == {"tests_other": 2, "proofroom_readings_failed": 1}
    assert "Some metrics cannot be read" in caplog.text


def test_a_request_is_answered_though_no_metrics_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Mapping[str, str]] = []

    def refuse() -> Mapping[str, metrics.Histogram]:
        raise OSError(ENOSPC, "No space left on device")

    def add(_value: float, labels: Mapping[str, str]) -> None:
        sent.append(dict(labels))

    names = [*(kind.name for kind in metrics.DURATIONS.values()), metrics.STATEMENTS.name]
    monkeypatch.setattr(metrics, "_prometheus_histograms", refuse)
    monkeypatch.setattr(metrics, "_otlp_histograms", lambda: dict.fromkeys(names, add))

    assert client.get("/health").status_code == 200
    assert client.get("/health").status_code == 200

    assert len(sent) == 4
    assert caplog.text.count("cannot record metrics of operations") == 1
