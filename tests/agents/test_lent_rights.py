"""A run has no more permissions than its starter, along the whole chain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents_app import tools
from agents_app.models import AgentRun
from agents_app.providers.interface import ToolAnswer
from agents_app.runs.creation import create_run
from agents_app.runs.execution import RunToolbox, prepare_attempt
from content.models import Draft
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation
from tests import make
from tests.agents.tooling import claimed, form_run, names, toolbox, tooled, working

pytestmark = pytest.mark.django_db


def _nested(outer: ToolAnswer) -> AgentRun:
    assert outer.ok, outer.text
    return AgentRun.objects.get(pk=json.loads(outer.text)["id"])


def test_threat_49_a_run_lends_no_more_than_its_own_tools(agents_dir: Path) -> None:
    tooled(agents_dir, "narrow", "run_agent", "list_posts", "submit_ai_review_to_review")
    tooled(agents_dir, "wide")
    tooled(agents_dir, "wider")
    post = make.post()
    box, run = toolbox("narrow", post)

    nested = _nested(box.call("run_agent", {"agentId": "wide", "postId": str(post.pk)}))

    assert nested.tools == ["list_posts", "run_agent", "submit_ai_review_to_review"]
    assert (nested.cause_run, nested.hop, nested.confined_to) == (run, 1, post.translation_group)
    inner = RunToolbox(prepare_attempt(claimed(nested)))
    assert names(inner) == {"list_posts", "run_agent"}
    edit: Any = {"postId": str(post.pk), "patch": {"title": "x"}}
    refused = inner.call("save_post_ai_review", edit)
    assert "the account that started this run" in refused.text
    assert not Draft.objects.exists()
    # And again: the third has no more rights than the second.
    third = _nested(inner.call("run_agent", {"agentId": "wider", "postId": str(post.pk)}))
    assert third.tools == ["list_posts", "run_agent"]
    assert names(RunToolbox(prepare_attempt(claimed(third)))) == {"list_posts", "run_agent"}


def test_threat_49_field_agents_are_narrowed_the_same_way(agents_dir: Path) -> None:
    tooled(agents_dir, "narrow", "run_field_agent", "search_media")
    tooled(agents_dir, "wide")
    post, other = make.post(), make.post("Tea", slug="tea")
    box, run = toolbox("narrow", post)
    call: Any = {"agentId": "wide", "fieldKey": "post.title", "wait": 0}

    answer = box.call("run_field_agent", {**call, "postId": str(post.pk)})
    outside = box.call("run_field_agent", {**call, "postId": str(other.pk)})

    nested = AgentRun.objects.get(pk=json.loads(answer.text)["run"]["id"])
    assert (nested.tools, nested.cause_run) == (["run_field_agent", "search_media"], run)
    assert (outside.ok, AgentRun.objects.count()) == (False, 2)


def test_threat_49_what_visitors_wrote_goes_with_the_chain(agents_dir: Path) -> None:
    tooled(agents_dir, "answerer", scopes=("form.submit",))
    tooled(agents_dir, "follower")
    cause = form_run("answerer", "Obey")
    actor = prepare_attempt(claimed(cause)).actor
    assert actor.has_read_untrusted

    nested = create_run(agent_id="follower", scope="dropdown", actor=actor, post_id=make.post().pk)

    assert nested.has_read_untrusted
    assert not names(RunToolbox(prepare_attempt(claimed(nested)))) & {
        "save_post_ai_review",
        "run_agent",
    }


def test_threat_49_a_chain_ends_at_the_hop_limit(agents_dir: Path) -> None:
    tooled(agents_dir, "again")
    post = make.post()
    run = working("again", post)

    answers = []
    for _ in range(4):
        box = RunToolbox(prepare_attempt(run))
        answers.append(box.call("run_agent", {"agentId": "again", "postId": str(post.pk)}))
        if answers[-1].ok:
            run = claimed(_nested(answers[-1]))

    assert [answer.ok for answer in answers] == [True, True, True, False]
    assert "at most 3 runs may start one another" in answers[-1].text
    assert AgentRun.objects.count() == 4


def test_threat_49_an_ai_client_lends_only_the_tools_of_its_credential(agents_dir: Path) -> None:
    tooled(agents_dir, "wide")
    post = make.post()
    client = Principal(
        id="narrow", user_id=make.user("editor").pk, tools=frozenset({"run_agent", "list_posts"})
    )

    result = call_tool(client, "run_agent", {"agentId": "wide", "postId": str(post.pk)})

    run = AgentRun.objects.get()
    assert result.is_error is False, result_text(result)
    assert run.tools == ["list_posts", "run_agent"]
    assert names(RunToolbox(prepare_attempt(claimed(run)))) == {"list_posts", "run_agent"}


def test_threat_49_a_credential_without_a_right_lends_none(agents_dir: Path) -> None:
    tooled(agents_dir, "wide", scopes=("global",))
    rights = frozenset({"agents.view", "posts.view"})
    client = Actor(user=make.user("ai_agent"), via="mcp", permissions=rights)
    post = make.post()

    run = create_run(agent_id="wide", scope="global", actor=client)
    box = RunToolbox(prepare_attempt(claimed(run)))
    edit: Any = {"postId": str(post.pk), "patch": {"title": "x"}}

    assert run.permissions == ["agents.view", "posts.view"]
    assert "list_posts" in names(box)
    assert "save_post_ai_review" not in names(box)
    assert not box.call("save_post_ai_review", edit).ok
    with pytest.raises(NotAllowed):
        tools.run_agent(client, tools.RunAgent(agent_id="seo-specialist", post_id=str(post.pk)))
    assert AgentRun.objects.count() == 1


def test_threat_49_an_editor_lends_an_agent_all_its_permissions(agents_dir: Path) -> None:
    tooled(agents_dir, "wide")
    post = make.post()

    for actor in (make.mcp_actor("editor"), make.mcp_actor("ai_agent"), make.actor("editor")):
        run = create_run(agent_id="wide", scope="dropdown", actor=actor, post_id=post.pk)
        assert (run.tools, run.permissions) == (None, None)
        assert "save_post_ai_review" in names(RunToolbox(prepare_attempt(claimed(run))))


def test_an_unknown_scope_of_the_tool_is_refused() -> None:
    with pytest.raises(RuleViolation):
        tools.run_agent(make.mcp_actor(), tools.RunAgent(agent_id="seo-specialist", scope="field"))
