"""Daily tasks run even if the scheduler restarts often, and a missing run is reported."""

from __future__ import annotations

from copy import copy
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from celery.schedules import crontab
from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from cms_project.celery import app
from proofroom.core.diagnostics.doctor import CheckResult, daily_tasks
from proofroom.core.models import ScheduledTask

BEGUN = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
PRUNE = "core.tasks.prune_activity"


def runs(name: str, started: datetime, ended: datetime) -> int:
    """Return how often a scheduler without state starts a task until it ends."""
    times = copy(app.conf.beat_schedule[name]["schedule"])
    now, last, count = started, started, 0
    while now < ended:
        times.nowfun = lambda now=now: now
        if times.is_due(last).is_due:
            last, count = now, count + 1
        now += timedelta(minutes=1)
    return count


@pytest.mark.parametrize("hours", [13, 20, 24])
def test_every_daily_task_runs_though_the_scheduler_starts_anew_with_nothing(hours: int) -> None:
    starts = [BEGUN + timedelta(hours=hours * number) for number in range(4)]
    for name in settings.DAILY_TASKS:
        counts = [runs(name, started, ended) for started, ended in pairwise(starts)]
        assert all(1 <= count <= 2 for count in counts), (name, counts)


def test_nothing_that_the_scheduler_counts_by_itself_is_rarer_than_five_minutes() -> None:
    rare = {
        name
        for name, entry in app.conf.beat_schedule.items()
        if not isinstance(entry["schedule"], crontab) and entry["schedule"] > 300
    }
    assert rare == set()
    assert set(settings.DAILY_TASKS) < set(app.conf.beat_schedule)


@pytest.mark.django_db
def test_the_doctor_names_a_task_that_was_not_done_for_two_days() -> None:
    app.loader.import_default_modules()  # as a worker does
    applied = MigrationRecorder.Migration.objects.filter(app="proofroom_core", name="0001_initial")
    applied.update(applied=timezone.now() - timedelta(hours=47))
    assert [found.level for found in daily_tasks()] == ["ok"]

    applied.update(applied=timezone.now() - timedelta(hours=49))
    for name in settings.DAILY_TASKS:
        if name != PRUNE:
            ScheduledTask.objects.create(name=name, done_at=timezone.now())
    assert overdue() == f"not done for two days: {PRUNE}"

    app.tasks[PRUNE].apply().get()
    assert [found.level for found in daily_tasks()] == ["ok"]

    ScheduledTask.objects.filter(name=PRUNE).update(done_at=timezone.now() - timedelta(hours=49))
    assert overdue() == f"not done for two days: {PRUNE}"


def overdue() -> str:
    (found,) = daily_tasks()
    assert found == CheckResult("fail", "daily tasks", found.found, found.advice)
    return found.found
