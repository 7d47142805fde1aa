"""Clients that wait for a run receive its activity; cancelling the call cancels the run."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings

from agents_app import tools
from agents_app.models import AgentRun
from agents_app.runs import lifecycle
from agents_app.runs.creation import create_run
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


def test_a_cancelled_runs_finished_work_stays(pauses: list[Callable[[], object]]) -> None:
    pauses.append(lambda: AgentRun.objects.update(status="succeeded"))

    with follow_progress(Following(patience=1)), pytest.raises(CallCancelled):
        on_a_post(make.mcp_actor())

    assert AgentRun.objects.get().status == "succeeded"


def test_a_page_that_follows_nothing_receives_nothing(
    pauses: list[Callable[[], object]],
) -> None:
    pauses.append(lambda: AgentRun.objects.update(status="failed", error="No."))

    assert on_a_post(make.mcp_actor())["status"] == "failed"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> AgentRun:
    """Create a run that no worker starts."""
    monkeypatch.setattr(lifecycle._limit, "free", None)
    return create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor"),
        post_id=make.post().pk,
    )


def test_waiting_callers_over_the_limit_get_the_current_run(
    run: AgentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    seen: list[str] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        seen.append(lifecycle.wait_for_run(AgentRun.objects.get(pk=run.pk), 60).status)
        AgentRun.objects.filter(pk=run.pk).update(status="succeeded")

    monkeypatch.setattr(lifecycle, "is_listening", lambda: False)
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=pause)
    monkeypatch.setattr(lifecycle, "time", clock)
    lifecycle.limit_waiting(1)

    assert lifecycle.wait_for_run(run, 60).status == "succeeded"
    assert (seen, len(waits)) == (["queued"], 1), "the second did not wait"

    AgentRun.objects.filter(pk=run.pk).update(status="queued")
    assert lifecycle.wait_for_run(run, 60).status == "succeeded"
    assert len(waits) == 2, "the place is free again"


def test_who_finds_the_run_finished_needs_no_place(run: AgentRun) -> None:
    AgentRun.objects.filter(pk=run.pk).update(status="failed")
    lifecycle.limit_waiting(1)
    place = lifecycle._limit.free
    assert isinstance(place, threading.BoundedSemaphore)
    with place:
        assert lifecycle.wait_for_run(run, 60).status == "failed"


@pytest.mark.parametrize("name", ["Procfile", "Containerfile"])
def test_web_processes_have_threads_beside_the_waiting_ones(name: str) -> None:
    text = (settings.BASE_DIR / "deploy" / name).read_text()
    found = re.findall(r'--blocking-threads"?,? "?(\d+)', text)
    assert [int(threads) > lifecycle.MAX_WAITING_IN_WEB for threads in found] == [True]


def test_the_web_application_limits_who_waits(
    run: AgentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib

    from cms_project import wsgi

    limits: list[int] = []
    monkeypatch.setattr(lifecycle, "limit_waiting", limits.append)
    importlib.reload(wsgi)
    assert limits == [lifecycle.MAX_WAITING_IN_WEB]
