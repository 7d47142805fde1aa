"""A worker dies, or a run ends during its execution: nothing is half-staged, and the sums agree."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from agents_app.budgets import reservations
from agents_app.models import AgentRun, Reservation, RunPost, RunStatus
from agents_app.runs import execution, lifecycle
from agents_app.runs.lifecycle import sweep_runs
from proofroom.core.tools import call
from tests import make
from tests.agents.dying import (
    BOTH,
    POINTS,
    Death,
    answering,
    dying,
    grow_silent,
    staged_in,
    sums_agree,
)
from tests.fake_provider import Call, FakeProvider, Reply

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "last",
    [Reply(status=400), Reply({"post": {"slug": 3}}), Reply(calls=(Call("no_tool"),))],
    ids=["refused by the provider", "never valid", "never done"],
)
def test_a_run_that_fails_after_its_tools_staged_leaves_nothing(
    staging: Callable[[], AgentRun], openai: Callable[..., FakeProvider], last: Reply
) -> None:
    run = staging()
    fake = answering(openai)(run)
    fake.replies[1:] = [last]

    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert run.status == "failed"
    assert run.error
    assert (run.staged, staged_in(run.post)) == ([], [])
    assert run.steps.filter(name="save_post_ai_review", ok=True).count() == 1
    assert sums_agree()


def test_what_a_tool_writes_for_a_run_that_was_cancelled_meanwhile_is_undone(
    staging: Callable[[], AgentRun],
    openai: Callable[..., FakeProvider],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = staging()
    answering(openai)(run)
    real = call.call_raw

    def cancelled_while_called(*args: Any, **given: Any) -> Any:
        AgentRun.objects.filter(pk=run.pk).update(status="cancelled")
        return real(*args, **given)

    monkeypatch.setattr(call, "call_raw", cancelled_while_called)
    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, staged_in(run.post)) == ("cancelled", [])
    assert sums_agree()


def test_the_first_of_sweep_and_worker_ends_a_run(
    staging: Callable[[], AgentRun], openai: Callable[..., FakeProvider], monkeypatch: Any
) -> None:
    """The sweep declares a run lost while its slow worker is about to finish it."""
    run = staging()
    answering(openai)(run)
    real = vars(execution)["finish_run"]

    def swept_first(*args: Any, **given: Any) -> Any:
        monkeypatch.setattr(execution, "finish_run", real)
        grow_silent()
        assert sweep_runs() == 1
        return real(*args, **given)

    monkeypatch.setattr(execution, "finish_run", swept_first)
    execution.execute_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.attempt, staged_in(run.post)) == ("queued", None, [])

    answering(openai)(run)
    execution.execute_run(run.pk)
    run.refresh_from_db()
    assert (run.status, staged_in(run.post)) == ("succeeded", BOTH)
    assert sums_agree()


def test_what_a_cancelled_run_had_under_way_in_a_dead_worker_is_settled(
    staging: Callable[[], AgentRun], openai: Callable[..., FakeProvider], monkeypatch: Any
) -> None:
    run, death, start = staging(), Death(), answering(openai)
    start(run)
    death.at(monkeypatch, *POINTS["while the model streams"])
    with dying(death):
        execution.execute_run(run.pk)
    AgentRun.objects.update(status="cancelled")
    assert sweep_runs() == 0, "it may still be under way"

    Reservation.objects.update(created_at=F("created_at") - timedelta(hours=1))
    assert sweep_runs() == 1

    assert sums_agree()
    assert reservations.settle_abandoned() == 0
    assert lifecycle.end_run(AgentRun.objects.get(), RunStatus.FAILED, "Late.") is False


@pytest.mark.parametrize("point", POINTS)
def test_whatever_a_dead_worker_left_goes_and_the_second_attempt_is_whole(
    staging: Callable[[], AgentRun],
    openai: Callable[..., FakeProvider],
    monkeypatch: pytest.MonkeyPatch,
    point: str,
) -> None:
    run, death, start = staging(), Death(), answering(openai)
    start(run)
    death.at(monkeypatch, *POINTS[point])
    before = make.live_hash()
    with dying(death):
        execution.execute_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.staged) == ("running", []), "nothing is stored yet"

    grow_silent()
    assert sweep_runs() == 1

    run.refresh_from_db()
    assert (run.status, run.attempts) == ("queued", 1)
    assert staged_in(run.post) == []
    assert not RunPost.objects.exists()
    assert sums_agree()

    start(run)
    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.error, run.attempts) == ("succeeded", "", 2)
    assert staged_in(run.post) == BOTH
    assert [step.number for step in run.steps.all()] == list(range(1, run.steps.count() + 1))
    assert sums_agree()
    assert make.live_hash() == before


@pytest.mark.parametrize("point", ["while the model streams", "after the tool"])
def test_a_run_whose_workers_die_twice_fails_and_leaves_nothing(
    staging: Callable[[], AgentRun],
    openai: Callable[..., FakeProvider],
    monkeypatch: pytest.MonkeyPatch,
    point: str,
) -> None:
    run, start = staging(), answering(openai)
    for _ in range(2):
        start(run)
        death = Death()
        with monkeypatch.context() as patch:
            death.at(patch, *POINTS[point])
            with dying(death):
                execution.execute_run(run.pk)
        grow_silent()
        assert sweep_runs() == 1

    run.refresh_from_db()
    assert (run.status, run.staged, run.attempts) == ("failed", [], 2)
    assert run.error == "Its worker stopped in the middle, 2 times. Nothing was staged."
    assert staged_in(run.post) == []
    assert sums_agree()


def test_a_worker_that_dies_after_the_end_has_done_its_work(
    staging: Callable[[], AgentRun], openai: Callable[..., FakeProvider], monkeypatch: Any
) -> None:
    run, death, start = staging(), Death(), answering(openai)
    fake = start(run)
    death.at(monkeypatch, execution, "finish_run", "after")
    with dying(death):
        execution.execute_run(run.pk)

    grow_silent()
    assert sweep_runs() == 0
    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.attempts, len(fake.asked)) == ("succeeded", 1, 2)
    assert staged_in(run.post) == BOTH
    assert sums_agree()
