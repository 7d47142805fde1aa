"""A worker dies at each step of a run: nothing half-staged stays, the run ends visibly, and the sums agree.

Death is a statement that is not made: from the point on, nothing this worker does reaches the database, as when its
process is killed. The same with real processes is in tests/faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import F, Sum

from agents_app.budgets import reserving
from agents_app.models import AgentRun, Reservation, RunPost, RunStatus, Spending
from agents_app.providers import port
from agents_app.running import ending, finishing, runner, toolset, watching
from agents_app.runs.starting import create_run
from agents_app.runs.sweep import sweep_runs
from content.layers import open_layers
from content.models import Post
from core.tools import calling
from tests import make
from tests.agents.environment import write_agent
from tests.fake_provider import Call, FakeProvider, Reply

pytestmark = pytest.mark.django_db(transaction=True)
TOOLS = "llmConfig:\n  useMCP: true\n  allowedMCPTools: [save_post_ai_review]"
ANSWER = {"post": {"metaTitle": "By the answer"}, "summary": "Both."}
BOTH = ["post.excerpt", "post.metaTitle"]


class Killed(BaseException):
    """The process is gone."""


class Death:
    """Comes at a point, before or after what is done there; once."""

    def __init__(self) -> None:
        self.has_come = False

    def at(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, when: str) -> None:
        real = getattr(owner, name)

        def point(*args: Any, **given: Any) -> Any:
            if self.has_come:
                return real(*args, **given)
            answer = real(*args, **given) if when == "after" else None
            self.has_come = True
            raise Killed(answer)

        monkeypatch.setattr(owner, name, point)

    def refuse(self, execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        if self.has_come:
            raise Killed
        return execute(sql, params, many, context)


@contextmanager
def dying(death: Death) -> Iterator[None]:
    with connection.execute_wrapper(death.refuse), pytest.raises(Killed):
        yield
    connection.close()  # as the server does with one whose other end is gone


POINTS = {
    "claimed": (runner, "prepare", "before"),
    "before the first request": (port, "open_conversation", "before"),
    "reserved": (watching, "reserve", "after"),
    "while the model streams": (watching.RunWatcher, "heard", "before"),
    "answered, and not yet counted": (watching.RunWatcher, "after_request", "before"),
    "between counting and the rest": (watching, "settle", "after"),
    "before the tool": (watching.ToldToolbox, "call", "before"),
    "in the tool, after it staged": (toolset, "add_step", "before"),
    "after the tool": (watching.ToldToolbox, "call", "after"),
    "before the final staging": (runner, "finish", "before"),
    "staged, and not yet committed": (finishing, "record_run_end", "before"),
}


@pytest.fixture
def staging(agents_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AgentRun]:
    """A run of an agent that stages by a tool, then by its answer; nobody takes it up by itself."""
    write_agent(agents_dir, "stager", "dropdown", extra=TOOLS)
    for place in ("agents_app.runs.starting.wake", "agents_app.running.ending.wake"):
        monkeypatch.setattr(place, lambda run_id: None)

    def begin() -> AgentRun:
        return create_run(
            agent_id="stager", scope="dropdown", actor=make.actor("editor"), post_id=make.post().pk
        )

    return begin


def answering(openai: Callable[..., FakeProvider]) -> Callable[[AgentRun], FakeProvider]:
    """The model stages an excerpt by the tool, then answers with a title."""
    fake = openai(Reply(status=500))

    def start(run: AgentRun) -> FakeProvider:
        call = Call("save_post_ai_review", {"postId": str(run.post_id), "patch": {"excerpt": "By"}})
        fake.replies[:] = [Reply(calls=(call,)), Reply(ANSWER)]
        return fake

    return start


def grow_silent() -> None:
    AgentRun.objects.update(heartbeat_at=F("heartbeat_at") - timedelta(minutes=2))


def sums_agree() -> bool:
    run = AgentRun.objects.get()
    spent = Spending.objects.aggregate(tokens=Sum("tokens"), cost=Sum("cost"))
    used = (run.input_tokens + run.output_tokens, run.cost or 0)
    return used == (spent["tokens"] or 0, spent["cost"] or 0) and not Reservation.objects.exists()


def staged_in(post: Post | None) -> list[str]:
    assert post is not None
    return sorted(open_layers(post).ai_review.changes.paths)


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
        runner.execute(run.pk)
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
    runner.execute(run.pk)

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
                runner.execute(run.pk)
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
    death.at(monkeypatch, runner, "finish", "after")
    with dying(death):
        runner.execute(run.pk)

    grow_silent()
    assert sweep_runs() == 0
    runner.execute(run.pk)

    run.refresh_from_db()
    assert (run.status, run.attempts, len(fake.asked)) == ("succeeded", 1, 2)
    assert staged_in(run.post) == BOTH
    assert sums_agree()


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

    runner.execute(run.pk)

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
    real = calling.call_raw

    def cancelled_while_called(*args: Any, **given: Any) -> Any:
        AgentRun.objects.filter(pk=run.pk).update(status="cancelled")
        return real(*args, **given)

    monkeypatch.setattr(calling, "call_raw", cancelled_while_called)
    runner.execute(run.pk)

    run.refresh_from_db()
    assert (run.status, staged_in(run.post)) == ("cancelled", [])
    assert sums_agree()


def test_whoever_comes_first_ends_a_run(
    staging: Callable[[], AgentRun], openai: Callable[..., FakeProvider], monkeypatch: Any
) -> None:
    """The sweep takes a run for dead while its slow worker is about to finish it."""
    run = staging()
    answering(openai)(run)
    real = vars(runner)["finish"]

    def swept_first(*args: Any, **given: Any) -> Any:
        monkeypatch.setattr(runner, "finish", real)
        grow_silent()
        assert sweep_runs() == 1
        return real(*args, **given)

    monkeypatch.setattr(runner, "finish", swept_first)
    runner.execute(run.pk)
    run.refresh_from_db()
    assert (run.status, run.attempt, staged_in(run.post)) == ("queued", None, [])

    answering(openai)(run)
    runner.execute(run.pk)
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
        runner.execute(run.pk)
    AgentRun.objects.update(status="cancelled")
    assert sweep_runs() == 0, "it may still be under way"

    Reservation.objects.update(created_at=F("created_at") - timedelta(hours=1))
    assert sweep_runs() == 1

    assert sums_agree()
    assert reserving.settle_abandoned() == 0
    assert ending.end_run(AgentRun.objects.get(), RunStatus.FAILED, "Late.") is False
