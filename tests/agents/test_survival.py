"""Runs whose worker dies, hangs, or learns too late that it lost the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from agents_app.models import AgentRun
from agents_app.runs import execution, lifecycle, ownership
from agents_app.runs.creation import create_run
from agents_app.runs.lifecycle import cancel_run, sweep_runs
from content.models import Draft
from proofroom.core.independent_steps import StepsFailed
from tests import make
from tests.agents.environment import set_env
from tests.conftest import RunOnCommit
from tests.fake_provider import Reply, serving

LONG_AGO = timedelta(minutes=2)


def _new(slug: str = "a-post") -> AgentRun:
    return create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post(slug=slug).pk,
    )


def _running(run: AgentRun, *, silent: timedelta, attempts: int = 1, left: int = 300) -> None:
    now = timezone.now()
    AgentRun.objects.filter(pk=run.pk).update(
        status="running",
        attempt=uuid4(),
        attempts=attempts,
        started_at=now - silent,
        heartbeat_at=now - silent,
        deadline_at=now + timedelta(seconds=left),
    )


@pytest.mark.django_db
def test_a_run_without_a_message_is_queued_again(run_on_commit: RunOnCommit) -> None:
    run = _new()
    assert sweep_runs() == 0, "it has not waited long"
    AgentRun.objects.update(queued_at=timezone.now() - LONG_AGO)

    with run_on_commit():
        assert sweep_runs() == 1

    run.refresh_from_db()
    assert run.status == "succeeded"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("age", "silent", "woken"),
    [(31, 31, 1), (300, 140, 0), (300, 160, 1), (86_400, 590, 0), (86_400, 610, 1)],
)
def test_messages_of_a_run_that_nobody_takes_do_not_heap_up(
    age: int, silent: int, woken: int
) -> None:
    _new()
    now = timezone.now()
    AgentRun.objects.update(
        created_at=now - timedelta(seconds=age), queued_at=now - timedelta(seconds=silent)
    )
    assert sweep_runs() == woken
    assert sweep_runs() == 0


@pytest.mark.django_db
def test_a_run_whose_worker_died_is_tried_once_more_then_fails(run_on_commit: RunOnCommit) -> None:
    run = _new()
    _running(run, silent=timedelta(seconds=20))
    assert sweep_runs() == 0, "three beats missed prove nothing"

    _running(run, silent=LONG_AGO)
    with run_on_commit():
        assert sweep_runs() == 1
    run.refresh_from_db()
    assert (run.status, run.attempts) == ("succeeded", 2)

    other = create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post(slug="other").pk,
    )
    _running(other, silent=LONG_AGO, attempts=2)
    assert sweep_runs() == 1
    other.refresh_from_db()
    assert (other.status, other.staged) == ("failed", [])
    assert other.error == "Its worker stopped in the middle, 2 times. Nothing was staged."


@pytest.mark.django_db
def test_a_run_that_hangs_beyond_its_time_is_ended() -> None:
    run = _new()
    _running(run, silent=timedelta(0), left=-60)

    assert sweep_runs() == 1

    run.refresh_from_db()
    assert run.status == "timed_out"


@pytest.mark.django_db
@pytest.mark.parametrize("attempts", [1, 2])
def test_a_run_that_cannot_be_swept_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    """Of three runs the second is broken; the first hangs, the others lost their workers."""
    hanging, broken, lost = (_new(f"post-{number}") for number in range(3))
    _running(hanging, silent=timedelta(0), left=-60)
    _running(broken, silent=2 * LONG_AGO, attempts=attempts, left=-60)
    _running(lost, silent=LONG_AGO, attempts=2)
    take_back = vars(lifecycle)["take_back"]

    def failing(run: AgentRun) -> None:
        if run.pk == broken.pk:
            raise ZeroDivisionError
        take_back(run)

    monkeypatch.setattr(lifecycle, "take_back", failing)

    with pytest.raises(StepsFailed, match=str(broken.pk)):
        sweep_runs()

    statuses = dict(AgentRun.objects.values_list("pk", "status"))
    assert statuses == {hanging.pk: "timed_out", broken.pk: "running", lost.pk: "failed"}


def _execute_in_thread(run: AgentRun) -> threading.Thread:
    def work() -> None:
        try:
            execution.execute_run(run.pk)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def _soon(condition: Callable[[], object], seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.05)


@pytest.mark.django_db(transaction=True)
def test_cancelling_in_the_middle_stops_the_wait_and_stages_nothing(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr("agents_app.runs.creation.wake", lambda run_id, event_id: None)
    with serving(Reply({"post": {"metaTitle": "Never"}}, delay=30)) as fake:
        set_env(
            settings, ai_provider_openai_api_key="k", ai_provider_openai_base_url=fake.openai_url
        )
        run = _new()
        thread = _execute_in_thread(run)
        assert fake.began.wait(15)

        cancel_run(run_id=run.pk, actor=make.actor("editor"))

        thread.join(5)
        assert not thread.is_alive(), "the worker goes on waiting"
    run.refresh_from_db()
    assert (run.status, run.staged, run.error) == ("cancelled", [], "")
    assert not Draft.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_was_given_up_stages_nothing_when_it_comes_back(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents_app.runs.creation.wake", lambda run_id, event_id: None)
    monkeypatch.setattr("agents_app.runs.lifecycle.wake", lambda run_id, event_id: None)
    with serving(
        Reply({"post": {"metaTitle": "Of the slow one"}}, delay=2),
        Reply({"post": {"metaTitle": "Of the second"}}),
    ) as fake:
        set_env(
            settings, ai_provider_openai_api_key="k", ai_provider_openai_base_url=fake.openai_url
        )
        run = _new()
        slow = _execute_in_thread(run)
        assert fake.began.wait(15)
        AgentRun.objects.update(heartbeat_at=timezone.now() - LONG_AGO)
        assert sweep_runs() == 1

        execution.execute_run(run.pk)
        slow.join(15)

    run.refresh_from_db()
    assert (run.status, run.attempts, run.staged) == ("succeeded", 2, ["post.metaTitle"])
    draft = Draft.objects.get()
    assert draft.document is not None
    assert draft.version == 1
    assert draft.document["post"]["metaTitle"] == "Of the second"
    assert [step.ok for step in run.steps.all()] == [True]


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_do_a_run_once(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents_app.runs.creation.wake", lambda run_id, event_id: None)
    with serving(Reply({"post": {"metaTitle": "Once"}}, delay=0.5)) as fake:
        set_env(
            settings, ai_provider_openai_api_key="k", ai_provider_openai_base_url=fake.openai_url
        )
        run = _new()
        threads = [_execute_in_thread(run) for _ in range(4)]
        for thread in threads:
            thread.join(15)

    assert len(fake.asked) == 1
    run.refresh_from_db()
    assert (run.status, run.attempts) == ("succeeded", 1)


@pytest.mark.django_db(transaction=True)
def test_the_heart_beats_while_the_provider_thinks(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr("agents_app.runs.creation.wake", lambda run_id, event_id: None)
    with serving(Reply({"summary": "Thought."}, delay=1.5)) as fake:
        set_env(
            settings, ai_provider_openai_api_key="k", ai_provider_openai_base_url=fake.openai_url
        )
        run = _new()
        thread = _execute_in_thread(run)
        assert fake.began.wait(15)

        def beats() -> bool:
            run.refresh_from_db()
            return run.heartbeat_at is not None and run.heartbeat_at > (
                run.started_at or run.heartbeat_at
            )

        _soon(beats, 3)
        thread.join(15)
    run.refresh_from_db()
    assert run.status == "succeeded"
