"""`run_field_agent`: a value of one field, for AI clients and for other agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents_app import tools
from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun, RunStatus
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from agents_app.runs.execution import RunToolbox, prepare_attempt
from content.models import Draft, Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from tests import make
from tests.agents.asking import payload_of
from tests.agents.environment import write_agent
from tests.agents.tooling import claimed, tooled
from tests.conftest import RunOnCommit
from tests.fake_provider import Call, Reply

pytestmark = pytest.mark.django_db


def _ask(post: Post, run_on_commit: RunOnCommit | None = None, **given: Any) -> Any:
    given = {"agent_id": "general-assistant", "field_key": "post.metaTitle", "wait": 0, **given}
    asked = tools.RunFieldAgent(post_id=str(post.pk), **given)
    if run_on_commit is None:
        return tools.run_field_agent(make.mcp_actor(), asked)
    with run_on_commit():
        begun: Any = tools.run_field_agent(make.mcp_actor(), asked)
    return begun


def test_the_field_is_asked_about_with_what_the_caller_says(openai: Any) -> None:
    fake = openai(Reply({"value": "Better"}))
    post = make.post()

    begun = _ask(
        post,
        field_key="module.hero.title",
        post_module_id=make.module_id(post, "hero"),
        current_value="Not saved yet",
        context={"reason": "spring"},
        open_ended_context="Shorter",
    )
    execution.execute_run(begun["run"]["id"])

    payload = payload_of(fake.asked[0])
    assert payload["field"] == {"key": "module.hero.title", "currentValue": "Not saved yet"}
    assert payload["context"]["reason"] == "spring"
    assert payload["context"]["openEndedContext"] == "Shorter"
    assert (begun["value"], begun["staged"]) == (None, None)
    assert begun["note"].startswith("The run goes on; read it later with get_agent_run, runId ")
    run = AgentRun.objects.get()
    assert (run.value, run.staged, run.scope, run.via) == ("Better", [], "field", "mcp")
    assert not Draft.objects.exists()


def test_a_value_is_staged_where_the_caller_wants_it(openai: Any) -> None:
    openai(Reply({"value": "Better"}))
    post = make.post()

    begun = _ask(post, apply_to_ai_review=True)
    execution.execute_run(begun["run"]["id"])

    assert AgentRun.objects.get().staged == ["post.metaTitle"]
    assert make.layers(post).ai_review.document.fields["metaTitle"] == "Better"


@pytest.mark.parametrize(
    ("status", "staged", "applies", "note"),
    [
        (RunStatus.SUCCEEDED, ["post.title"], True, None),
        (RunStatus.SUCCEEDED, [], False, None),
        (RunStatus.SUCCEEDED, [], True, "Nothing was staged: the field holds that value already."),
        (RunStatus.FAILED, [], True, "There is no value, and nothing was staged: No key."),
        (RunStatus.CANCELLED, [], False, "There is no value, and nothing was staged: cancelled"),
    ],
    ids=["staged", "answered", "same", "failed", "cancelled"],
)
def test_what_came_of_it_is_said(
    status: RunStatus, staged: list[str], applies: bool, note: str | None
) -> None:
    error = "No key." if status == RunStatus.FAILED else ""
    run = AgentRun(status=status, staged=staged, error=error)

    assert tools.describe_outcome(run, applies=applies) == note


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"field_key": "post.status"}, RuleViolation),
        ({"field_key": "module.nothing.title"}, RuleViolation),
        ({"field_key": "title"}, RuleViolation),
        ({"field_key": "post.title\x00"}, RuleViolation),
        ({"post_module_id": "no-id"}, RuleViolation),
        ({"agent_id": "nobody"}, NotFound),
        ({"agent_id": "proofreader-of-nothing"}, NotFound),
        ({"current_value": "half \ud800"}, RuleViolation),
        ({"context": {"a": "x" * 60_000}}, RuleViolation),
    ],
    ids=["status", "module", "bare", "nul", "module id", "agent", "other", "surrogate", "long"],
)
def test_what_does_not_fit_begins_no_run(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        _ask(make.post(), **given)

    assert not AgentRun.objects.exists()


def test_an_agent_that_does_not_serve_the_field_is_refused(agents_dir: Path) -> None:
    write_agent(agents_dir, "titles", "dropdown")
    definitions.reload()

    with pytest.raises(NotAllowed) as caught:
        _ask(make.post(), agent_id="titles")

    assert caught.value.code == "agent_not_in_scope"
    assert not AgentRun.objects.exists()


def test_over_mcp_the_names_are_the_documents() -> None:
    post = make.post()
    client = Principal(id="client", user_id=make.user("ai_agent").pk)

    result: Any = call_tool(
        client,
        "run_field_agent",
        {
            "agentId": "general-assistant",
            "postId": str(post.pk),
            "fieldKey": "post.metaTitle",
            "applyToAiReview": True,
            "wait": 0,
        },
    )

    assert result.is_error is False
    assert set(result.structured_content) == {"run", "value", "staged", "note"}
    # Empty values are omitted.
    assert set(result.structured_content["run"]) == {
        "id", "agentId", "scope", "postId", "status", "createdAt", "by", "via", "usage", "staged", "steps",
        "fieldKey", "value", "examples", "briefs",
    }  # fmt: skip
    assert AgentRun.objects.get().stages_value is True


@pytest.mark.parametrize(
    ("tool", "given"), [("run_agent", {}), ("run_field_agent", {"fieldKey": "post.metaTitle"})]
)
def test_a_missing_agent_id_names_the_list_of_ids(tool: str, given: dict[str, Any]) -> None:
    asked = {"agentId": "SEO specialist", "postId": str(make.post().pk), **given}

    result: Any = call_tool(Principal(id="client", user_id=make.user("editor").pk), tool, asked)

    assert result.is_error is True
    assert (
        result.content[0].text
        == "No agent is named 'SEO specialist'. Call list_agents for the ids."
    )
    assert not AgentRun.objects.exists()


def test_a_run_that_only_answers_stages_nothing_by_its_tools_either(
    openai: Any, agents_dir: Path
) -> None:
    tooled(agents_dir, "eager", "save_post_ai_review", "create_post_ai_review")
    post = make.post()
    edit = {"postId": str(post.pk), "patch": {"title": "Staged after all"}}
    openai(
        Reply(calls=(Call("save_post_ai_review", edit),)),
        Reply(calls=(Call("create_post_ai_review", {"type": "blog", "title": "New"}),)),
        Reply({"value": "Better"}),
    )

    begun = _ask(post, agent_id="eager")
    execution.execute_run(begun["run"]["id"])

    run = AgentRun.objects.get()
    assert (run.status, run.value) == ("succeeded", "Better")
    assert [step.ok for step in run.steps.filter(kind="tool")] == [False, False]
    assert not Draft.objects.exists()
    assert Post.objects.count() == 1


def test_runs_that_an_answering_run_begins_only_answer_too(agents_dir: Path) -> None:
    tooled(agents_dir, "eager")
    post = make.post()
    outer = create_run(
        agent_id="eager",
        scope="field",
        actor=make.actor("editor"),
        post_id=post.pk,
        field_key="post.title",
        stages_value=False,
    )
    box = RunToolbox(prepare_attempt(claimed(outer)))

    answer = box.call("run_agent", {"agentId": "seo-specialist", "postId": str(post.pk)})
    inner = AgentRun.objects.get(pk=json.loads(answer.text)["id"])
    execution.execute_run(inner.pk)

    inner.refresh_from_db()
    assert (inner.status, inner.staged, inner.stages_value) == ("succeeded", [], False)
    assert not Draft.objects.exists()


def test_what_tools_staged_is_said_of_the_run_too(openai: Any, agents_dir: Path) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review")
    post = make.post()
    edit = {"postId": str(post.pk), "patch": {"title": "By a tool"}}
    openai(
        Reply(calls=(Call("save_post_ai_review", edit),)),
        Reply({"post": {"excerpt": "By its answer"}}),
    )

    run = create_run(agent_id="writer", scope="dropdown", actor=make.actor(), post_id=post.pk)
    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.staged) == ("succeeded", ["post.title", "post.excerpt"])


def test_what_tools_staged_goes_where_the_model_fails_after_them(
    openai: Any, agents_dir: Path
) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review")
    post = make.post()
    make.staged(post, {"title": "Of another run"})
    edit = {"postId": str(post.pk), "patch": {"title": "By a tool", "excerpt": "By a tool"}}
    openai(
        Reply(calls=(Call("save_post_ai_review", edit),)),
        Reply(status=401, message="no"),
    )

    run = create_run(agent_id="writer", scope="dropdown", actor=make.actor(), post_id=post.pk)
    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.staged) == ("failed", [])
    view = make.layers(post).ai_review
    assert view.changes.paths == ("post.title",)
    assert view.document.fields["title"] == "Of another run"
