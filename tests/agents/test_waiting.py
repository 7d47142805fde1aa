"""Callers who wait for a run leave threads of the web process free."""

from __future__ import annotations

import re
import threading
import time
from types import SimpleNamespace

import pytest
from django.conf import settings

from agents_app.models import AgentRun
from agents_app.runs import lifecycle
from agents_app.runs.creation import create_run
from tests import make

pytestmark = pytest.mark.django_db


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


def test_whoever_finds_no_place_gets_the_run_as_it_stands(
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
def test_web_processes_have_threads_beside_those_that_wait(name: str) -> None:
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
