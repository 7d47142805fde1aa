"""A worker dies at each step of a run: nothing is half-staged, the run ends visibly, and the sums agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents_app.models import AgentRun, RunPost
from agents_app.runs import execution
from agents_app.runs.lifecycle import sweep_runs
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
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert (run.status, run.staged) == ("running", []), "nobody knows of it yet"

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
