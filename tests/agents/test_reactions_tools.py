"""Reactions that call a tool: as the agent, with the run's remaining permissions."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agents_app.models import AgentRun, RunPost, RunReaction
from agents_app.reactions import tool_calls
from agents_app.runs.undo import undo_run
from agents_app.tasks import sweep_reactions
from content.models import Draft, Post
from proofroom.core.errors import Conflict
from proofroom.core.tools import call
from tests import make
from tests.agents.environment import write_agent
from tests.agents.reactions import ended, outcomes, save, tool, webhook, write_reacting
from tests.conftest import RunOnCommit
from tests.content.at_once import at_once
from tests.receiver import Receiver

pytestmark = pytest.mark.django_db

SAVE = "save_post_ai_review"


def test_a_tool_is_called_as_the_agent_in_the_name_of_the_run(
    agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, save(excerpt="{{result.summary}}", metaTitle="{{result.slug}}"))
    post = make.post()
    before = make.live_hash()

    with run_on_commit():
        run = ended(post=post, summary="Said {{agent}} “so”")

    assert outcomes(run) == [(1, "mcp_tool", "succeeded", 1, "")]
    draft = Draft.objects.get(layer="ai-review")
    assert make.live_hash() == before
    change = make.layers(post).ai_review
    assert change.document.fields["excerpt"] == "Said {{agent}} “so”"
    assert change.document.fields["metaTitle"] == post.slug
    assert {mark["run_id"] for mark in draft.marks.values()} == {str(run.pk)}
    assert {mark["agent_id"] for mark in draft.marks.values()} == {"reactor"}
    assert RunPost.objects.get(run=run).post_id == post.pk

    undo_run(run_id=run.pk, actor=make.actor("admin"))
    assert make.layers(post).ai_review.changes.paths == ()


def test_threat_48_a_list_of_tools_holds_in_reactions_too(
    agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, save(), useMCP=True, allowedMCPTools=["list_posts"])

    with run_on_commit():
        run = ended()

    [(_, _, status, attempts, error)] = outcomes(run)
    assert (status, attempts) == ("failed", 1)
    assert error == f"{SAVE} is not on the list of tools of the agent reactor."
    assert Draft.objects.count() == 0


@pytest.mark.parametrize(
    ("narrowed", "sentence"),
    [
        (
            {"tools": ["list_posts"]},
            "not on the list of tools of the account that started this run",
        ),
        ({"permissions": ["posts.view"]}, "posts.ai-review.save"),
        ({"has_read_untrusted": True}, "so it may only read"),
        (
            {"confined_to": "00000000-0000-4000-8000-000000000000"},
            "only propose changes to one post",
        ),
    ],
    ids=["tools", "permissions", "untrusted", "confined"],
)
def test_threat_49_a_reaction_may_do_no_more_than_its_run(
    agents_dir: Path, run_on_commit: RunOnCommit, narrowed: dict[str, Any], sentence: str
) -> None:
    write_reacting(agents_dir, save(), tool("list_agents"))

    with run_on_commit():
        run = ended(**narrowed)

    refused, read = outcomes(run)
    assert (refused[2], refused[3]) == ("failed", 1)
    assert sentence in refused[4]
    assert Draft.objects.count() == 0
    assert (read[2] == "succeeded") == (
        narrowed.get("tools") is None and "permissions" not in narrowed
    )


def test_threat_49_a_run_that_a_reaction_starts_gets_no_more_than_its_cause(
    agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_agent(agents_dir, "next", "dropdown")
    reaction = tool("run_agent", agentId="next", postId="{{data.postId}}", wait=60)
    write_reacting(agents_dir, reaction, useMCP=True, allowedMCPTools=["run_agent", "list_posts"])

    with run_on_commit():
        run = ended(hop=1)

    following = AgentRun.objects.get(agent_id="next")
    assert outcomes(run) == [(1, "mcp_tool", "succeeded", 1, "")]
    assert (following.cause_run_id, following.hop, following.via) == (run.pk, 2, "agent")
    assert following.tools == ["list_posts", "run_agent"]
    assert following.status == "succeeded"


@pytest.mark.parametrize(
    ("reaction", "words"),
    [
        (save(title=1), "title"),
        (tool(SAVE, postId="{{result.runId}}", patch={"excerpt": "x"}), "No post"),
        (tool("run_agent", agentId="nobody"), "No agent is named 'nobody'"),
        (tool("trace_url_resolution", path="/"), "not on the list of tools"),
        (tool("list_agents", odd=1), "unknown argument `odd`"),
    ],
    ids=["arguments", "missing", "agent", "diagnostics", "unknown"],
)
def test_what_is_refused_is_not_tried_again(
    agents_dir: Path, run_on_commit: RunOnCommit, reaction: Any, words: str
) -> None:
    write_reacting(agents_dir, reaction)

    with run_on_commit():
        run = ended()

    [(_, _, status, attempts, error)] = outcomes(run)
    assert (status, attempts) == ("failed", 1)
    assert words in error
    assert RunReaction.objects.get().next_attempt_at is None


def test_one_reaction_that_fails_does_not_stop_the_others(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(
        agents_dir, tool("run_agent", agentId="nobody"), save(), webhook(receiver.url("/hook"))
    )

    with run_on_commit():
        run = ended()

    assert [row[2] for row in outcomes(run)] == ["failed", "succeeded", "succeeded"]
    assert len(receiver.at("/hook")) == 1


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
