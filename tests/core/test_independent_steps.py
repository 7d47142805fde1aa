"""A failed step of a task stops no other step, and the task counts as failed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import OperationalError

from cms_project.celery import app
from proofroom.core.independent_steps import StepsFailed, independent_steps

STEPS = {
    "agents_app.tasks.sweep_runs": [
        "agents_app.runs.lifecycle._wake_waiting",
        "agents_app.runs.lifecycle.settle_abandoned",
        "agents_app.tasks.requeue_stalled_reverts",
    ],
    "analytics.tasks.add_up_events": [
        "analytics.tasks.add_all",
        "analytics.tasks.close_months",
    ],
    "analytics.tasks.merge_rare_figures": [
        "analytics.tasks.merge_rare_values",
        "analytics.tasks.merge_batches",
    ],
    "analytics.tasks.prune_events": [
        "analytics.tasks.create_partitions_ahead",
        "analytics.tasks.forget_old_events",
        "analytics.tasks.forget_old_figures",
    ],
    "content.tasks.purge_trash": [
        "content.tasks.delete_expired_copies",
        "content.tasks.delete_old_rejections",
        "content.tasks.forget_old_jobs",
        "content.tasks._empty_trash",
    ],
    "imports.tasks.sweep_imports": [
        "proofroom_apps.imports.tasks.delete_expired_files",
        "proofroom_apps.imports.tasks.remove_leftover_folders",
    ],
    "oauth.tasks.purge": [
        "proofroom.oauth.connections.clear_expired",
        "proofroom.oauth.connections._purge_connections",
        "proofroom.oauth.connections._purge_clients",
    ],
    "webhooks.tasks.prune_deliveries": [
        "proofroom.webhooks.tasks.forget_old_secrets",
        "proofroom.webhooks.retention.purge_orphans",
        "proofroom.webhooks.retention.prune_finished",
    ],
    "webhooks.tasks.sweep_deliveries": [
        "proofroom.webhooks.tasks.queue_replays",
        "proofroom.webhooks.delivery.needs_sender",
    ],
}
"""The steps of each task, by the place where it looks them up."""


def test_steps_after_one_that_fails_are_done(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []

    def work() -> None:
        with independent_steps() as step:
            for number in range(4):
                with step(f"step {number}"):
                    done.append(number // (number % 2))

    with pytest.raises(StepsFailed, match=r"step 0, step 2$"):
        work()

    assert done == [1, 3]
    failures = [record for record in caplog.records if record.exc_info]
    assert [record.getMessage() for record in failures] == [
        "step 0 failed; the other steps continue",
        "step 2 failed; the other steps continue",
    ]


def test_a_database_that_is_away_ends_all() -> None:
    away = OperationalError("gone")
    away.__cause__ = psycopg.OperationalError("gone")
    done: list[int] = []

    def work() -> None:
        with independent_steps() as step:
            with step("the first"):
                raise away
            with step("the second"):
                done.append(2)

    with pytest.raises(OperationalError):
        work()

    assert done == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("task", "failing"), [(task, name) for task, names in STEPS.items() for name in names]
)
def test_a_step_of_a_task_that_fails_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, task: str, failing: str
) -> None:
    app.loader.import_default_modules()
    begun: list[str] = []

    def followed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            begun.append(name)
            if name == failing:
                raise ZeroDivisionError(name)
            return call(*given, **named)

        return run

    for name in STEPS[task]:
        module, _, attribute = name.rpartition(".")
        found = importlib.import_module(module)
        monkeypatch.setattr(found, attribute, followed(name, getattr(found, attribute)))

    with pytest.raises(StepsFailed):
        app.tasks[task].apply().get()

    assert begun == STEPS[task]
