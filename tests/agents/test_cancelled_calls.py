"""Clients that wait for a run receive its activity; cancelling the call cancels the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from agents_app import tools
from agents_app.models import AgentRun
from proofroom.core.actor import Actor
from proofroom.core.progress import CallCancelled, follow_progress
from tests import make

pytestmark = pytest.mark.django_db
Step = tuple[float, float | None, str]


@dataclass
class Following:
    """Cancels after a number of checks."""

    patience: int
    told: list[Step] = field(default_factory=list)

    def report(self, done: float, total: float | None, message: str) -> None:
        self.told.append((done, total, message))

    def check(self) -> None:
        self.patience -= 1
        if self.patience < 0:
            raise CallCancelled


def on_a_post(actor: Actor) -> Any:
    return tools.run_agent(
        actor, tools.RunAgent(agent_id="seo-specialist", post_id=str(make.post().pk), wait=60)
    )


def on_a_field(actor: Actor) -> Any:
    return tools.run_field_agent(
        actor,
        tools.RunFieldAgent(
            agent_id="seo-specialist", post_id=str(make.post().pk), field_key="post.metaTitle"
        ),
    )


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Script the events of a run at each pause. No worker starts it."""
    waiting: list[Callable[[], object]] = []

    def pause(seconds: float) -> None:
        if waiting:
            waiting.pop(0)()

    monkeypatch.setattr("agents_app.runs.lifecycle.is_listening", lambda: False)
    monkeypatch.setattr("agents_app.runs.lifecycle.time.sleep", pause)
    return waiting


@pytest.mark.parametrize("began", [on_a_post, on_a_field])
def test_a_cancelled_call_cancels_the_run_that_it_began(
    began: Callable[[Actor], Any], pauses: list[Callable[[], object]]
) -> None:
    pauses.append(lambda: AgentRun.objects.update(status="running", doing="Waiting for the model"))
    follower = Following(patience=3)

    with follow_progress(follower), pytest.raises(CallCancelled):
        began(make.mcp_actor())

    assert follower.told == [(0, None, "queued"), (1, None, "Waiting for the model")]
    assert AgentRun.objects.get().status == "cancelled"


def test_a_call_that_waits_for_nothing_is_cancelled_whole_too() -> None:
    arguments = tools.RunAgent(agent_id="seo-specialist", post_id=str(make.post().pk), wait=0)

    with follow_progress(Following(patience=0)), pytest.raises(CallCancelled):
        tools.run_agent(make.mcp_actor(), arguments)

    assert AgentRun.objects.get().status == "cancelled"


def test_what_a_run_had_done_by_then_stands(pauses: list[Callable[[], object]]) -> None:
    pauses.append(lambda: AgentRun.objects.update(status="succeeded"))

    with follow_progress(Following(patience=1)), pytest.raises(CallCancelled):
        on_a_post(make.mcp_actor())

    assert AgentRun.objects.get().status == "succeeded"


def test_who_does_not_follow_is_told_nothing_and_waits(
    pauses: list[Callable[[], object]],
) -> None:
    pauses.append(lambda: AgentRun.objects.update(status="failed", error="No."))

    assert on_a_post(make.mcp_actor())["status"] == "failed"
