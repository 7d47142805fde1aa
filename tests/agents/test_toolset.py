"""The tools of a run: selection, permissions, and their records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun, RunStatus
from agents_app.providers.interface import ProviderStopped
from agents_app.runs.execution import MAX_ANSWER_BYTES
from agents_app.runs.permissions import EXPLICIT_TOOLS, FORBIDDEN_GROUPS
from content.models import Draft, Post
from proofroom.core.json import JsonObject
from proofroom.core.tools import all_tools, get_tool
from proofroom.core.tools.schemas import lean_schema
from tests import make
from tests.agents.environment import write_agent
from tests.agents.tooling import names, toolbox, tooled

pytestmark = pytest.mark.django_db


def test_a_listed_tool_is_shown_and_called_as_the_agent(agents_dir: Path) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review", "get_post_context")
    post = make.post()
    box, run = toolbox("writer", post)
    live = make.live_hash()

    answer = box.call(
        "save_post_ai_review", {"postId": str(post.pk), "patch": {"excerpt": "Short"}}
    )

    assert names(box) == {"save_post_ai_review", "get_post_context"}
    spec = box.specs()[1]
    tool = get_tool("save_post_ai_review")
    assert tool is not None
    assert (spec.description, spec.schema) == (tool.description, lean_schema(tool.arguments))
    assert (answer.ok, json.loads(answer.text)["staged"]) == (True, ["post.excerpt"])
    mark = make.layers(post).ai_review.marks["post.excerpt"]
    assert (mark.agent_id, mark.run_id, mark.via, mark.user) == (
        "writer",
        str(run.pk),
        "agent",
        "agent:writer",
    )
    assert make.live_hash() == live
    (step,) = run.steps.all()
    assert (step.number, step.kind, step.name, step.ok) == (1, "tool", "save_post_ai_review", True)


def test_without_use_mcp_there_is_no_tool(agents_dir: Path) -> None:
    write_agent(agents_dir, "plain", "dropdown")
    definitions.reload()
    box, run = toolbox("plain", make.post())

    answer = box.call("list_posts", {})

    assert names(box) == set()
    assert not answer.ok
    assert [step.summary for step in run.steps.all()] == ["refused: tool_not_allowed"]


def test_what_is_refused_goes_back_as_a_lesson_and_the_run_goes_on(agents_dir: Path) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review", "list_posts")
    post = make.post()
    box, run = toolbox("writer", post)

    wrong = box.call("save_post_ai_review", {"postId": str(post.pk), "pach": {"title": "x"}})
    rule = box.call("save_post_ai_review", {"postId": str(post.pk), "patch": {"title": ""}})
    unknown = box.call("save_post", {})
    fine = box.call("list_posts", {})

    assert (wrong.ok, rule.ok, unknown.ok, fine.ok) == (False, False, False, True)
    assert "unknown argument `pach`; did you mean `patch`?" in wrong.text
    assert "Signature: save_post_ai_review(" in wrong.text
    assert "title" in rule.text
    assert unknown.text == "Unknown tool: save_post (did you mean save_post_ai_review?)"
    assert not Draft.objects.exists()
    assert [(step.number, step.ok) for step in run.steps.all()] == [
        (1, False),
        (2, False),
        (3, False),
        (4, True),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"postId": "nul\x00"},
        {"postId": "half \ud800"},
        {"postId": None},
        {"postId": True},
        {"postId": "x" * 1_000_000},
        {"patch": {"title": ["list"]}},
        {"patch": {"robotsJson": {"a": float("inf")}}},
    ],
    ids=["nul", "surrogate", "null", "bool", "long", "list", "infinity"],
)
def test_hostile_arguments_are_refused(agents_dir: Path, arguments: dict[str, object]) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review")
    post = make.post()
    box, run = toolbox("writer", post)
    given = {"postId": str(post.pk), "patch": {"title": "x"}, **arguments}

    answer = box.call("save_post_ai_review", given)

    assert not answer.ok
    assert "Internal error" not in answer.text
    assert not Draft.objects.exists()
    assert run.steps.count() == 1


def test_a_tool_that_fails_inside_shows_a_reference_only(
    agents_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tooled(agents_dir, "reader", "list_posts")
    box, run = toolbox("reader", make.post())
    tool = get_tool("list_posts")
    assert tool is not None

    def broken(*_: object) -> None:
        raise RuntimeError("sk-secret-of-the-house")

    monkeypatch.setattr("proofroom.core.tools.call.call_raw", broken)
    answer = box.call("list_posts", {})

    assert not answer.ok
    assert answer.text.startswith("Internal error, reference ")
    assert "sk-secret" not in answer.text + run.steps.get().summary


def test_an_answer_that_no_model_could_hold_is_refused(
    agents_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tooled(agents_dir, "reader", "list_posts")
    make.post()
    box, _ = toolbox("reader")
    monkeypatch.setattr("agents_app.runs.execution.MAX_ANSWER_BYTES", 10)

    answer = box.call("list_posts", {})

    assert MAX_ANSWER_BYTES == 200_000
    assert not answer.ok
    assert "at most 10 are sent" in answer.text


@pytest.mark.parametrize("status", [RunStatus.CANCELLED, RunStatus.QUEUED])
def test_a_run_that_is_no_longer_this_workers_calls_nothing(
    agents_dir: Path, status: RunStatus
) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review")
    post = make.post()
    box, run = toolbox("writer", post)
    AgentRun.objects.filter(pk=run.pk).update(status=status)

    with pytest.raises(ProviderStopped):
        box.call("save_post_ai_review", {"postId": str(post.pk), "patch": {"title": "Late"}})

    assert not Draft.objects.exists()
    assert run.steps.count() == 0


def test_the_account_of_an_agent_lends_no_more_than_its_role(agents_dir: Path) -> None:
    tooled(agents_dir, "writer")
    box, _ = toolbox("writer", make.post())
    # The tools of an agent are in its file, so it adds none itself.
    left_out = EXPLICIT_TOOLS | {"find_tools", "enable_tools"}
    wanting = [
        tool for tool in all_tools() if tool.group not in FORBIDDEN_GROUPS | {"images", "media"}
    ]

    assert names(box) >= {tool.name for tool in wanting if tool.name not in left_out}
    assert not names(box) & {"find_tools", "enable_tools"}
    for tool in all_tools():
        if tool.group in FORBIDDEN_GROUPS:
            answer = box.call(tool.name, {})
            assert (answer.ok, "not on the list" in answer.text) == (False, True)


def test_no_name_of_another_agent_lends_its_account(agents_dir: Path) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review", "create_post_ai_review")
    make.agent_actor("seo-specialist")
    post = make.post()
    box, _ = toolbox("writer", post)
    call: JsonObject = {"postId": str(post.pk), "patch": {"title": "x"}}

    refused = box.call("save_post_ai_review", {**call, "agentId": "seo-specialist"})
    own = box.call("save_post_ai_review", {**call, "agentId": "writer"})

    assert (refused.ok, own.ok) == (False, True)
    assert "leave agentId out" in refused.text
    assert make.layers(post).ai_review.marks["post.title"].agent_id == "writer"
    assert Post.objects.count() == 1
