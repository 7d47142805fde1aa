"""Tool calls of reactions are retried, by one worker at a time, and done once, even if workers die."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agents_app.models import AgentRun, RunReaction
from agents_app.reactions import tool_calls
from agents_app.tasks import sweep_reactions
from content.models import Draft, Post
from proofroom.core.errors import Conflict
from proofroom.core.tools import call
from tests import make
from tests.agents.reactions import ended, outcomes, save, write_reacting
from tests.conftest import RunOnCommit
from tests.content.at_once import at_once

pytestmark = pytest.mark.django_db
SAVE = "save_post_ai_review"


def _due(run: AgentRun) -> None:
    RunReaction.objects.filter(run=run).exclude(next_attempt_at=None).update(
        next_attempt_at=timezone.now() - timedelta(seconds=1)
    )


def test_what_fails_is_tried_five_times_and_undone_each_time(
    agents_dir: Path, run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reacting(agents_dir, save())
    real = call.call_raw

    def breaks(*given: Any, **named: Any) -> Any:
        real(*given, **named)
        raise RuntimeError("canary-in-a-trace")

    monkeypatch.setattr(call, "call_raw", breaks)
    with run_on_commit():
        run = ended()
    for attempts in (1, 2, 3, 4):
        [(_, _, status, tried, error)] = outcomes(run)
        assert (status, tried) == ("pending", attempts)
        assert error.startswith("Something went wrong here; it was logged as ")
        row = RunReaction.objects.get()
        assert row.next_attempt_at is not None
        waits = (row.next_attempt_at - timezone.now()).total_seconds()
        assert (
            tool_calls.RETRY_PAUSES[attempts - 1] - 5
            < waits
            <= tool_calls.RETRY_PAUSES[attempts - 1]
        )
        tool_calls.call_reaction_tool(row.pk)
        assert outcomes(run)[0][3] == attempts, "not before its time"
        _due(run)
        with run_on_commit():
            assert sweep_reactions() == 1

    assert outcomes(run)[0][2:4] == ("failed", 5)
    assert Draft.objects.count() == 0
    assert sweep_reactions() == 0


def test_a_conflict_passes_and_the_next_try_goes_through(
    agents_dir: Path, run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reacting(agents_dir, save())
    real = call.call_raw
    ends: list[Exception | None] = [Conflict("Somebody was quicker."), None]

    def sometimes(*given: Any, **named: Any) -> Any:
        error = ends.pop(0)
        if error is not None:
            raise error
        return real(*given, **named)

    monkeypatch.setattr(call, "call_raw", sometimes)
    with run_on_commit():
        run = ended()
    assert outcomes(run) == [(1, "mcp_tool", "pending", 1, "Somebody was quicker.")]

    _due(run)
    with run_on_commit():
        sweep_reactions()

    assert outcomes(run) == [(1, "mcp_tool", "succeeded", 2, "")]
    assert Draft.objects.get().version == 1


def test_a_worker_that_died_with_a_call_is_followed_by_another(
    agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, save())
    with transaction.atomic():
        run = ended()
        row = RunReaction.objects.create(
            run=run, number=1, kind="mcp_tool", target=SAVE, next_attempt_at=timezone.now()
        )
    dead = tool_calls._claim(row.pk)
    assert dead is not None
    assert tool_calls._claim(row.pk) is None, "it is taken"
    _due(run)

    with run_on_commit():
        sweep_reactions()
    # The first worker is alive after all: it has lost the call, and writes nothing.
    tool_calls._fail(dead, "late", may_retry=True)

    assert outcomes(run) == [(1, "mcp_tool", "succeeded", 2, "")]
    assert Draft.objects.get().version == 1


def test_a_call_that_ends_every_worker_is_given_up(
    agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, save())
    run = ended()
    row = RunReaction.objects.create(
        run=run, number=1, kind="mcp_tool", target=SAVE, attempts=5, status="running"
    )
    RunReaction.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))

    tool_calls.call_reaction_tool(row.pk)

    sentence = "Its worker ended each time before it knew what became of it."
    assert outcomes(run) == [(1, "mcp_tool", "failed", 6, sentence)]


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_workers_make_one_call(agents_dir: Path) -> None:
    write_reacting(agents_dir, save())
    run = ended(post=make.post())
    RunReaction.objects.all().delete()
    row = RunReaction.objects.create(
        run=run, number=1, kind="mcp_tool", target=SAVE, next_attempt_at=timezone.now()
    )

    assert at_once(*[partial(tool_calls.call_reaction_tool, row.pk)] * 4) == [None] * 4

    assert outcomes(run) == [(1, "mcp_tool", "succeeded", 1, "")]
    assert Draft.objects.get().version == 1
    assert Post.objects.count() == 1
