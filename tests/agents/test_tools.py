"""Agents as tools of AI clients."""

from __future__ import annotations

from typing import Any

import pytest

from agents_app import tools
from agents_app.models import AgentRun
from proofroom.core.errors import NotAllowed, RuleViolation
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db


def test_agents_are_listed_run_and_read(run_on_commit: RunOnCommit) -> None:
    client, post = make.mcp_actor(), make.post()
    before = make.live_hash()

    listed: Any = tools.list_agents(client, tools.ListAgents(scope="global"))
    with run_on_commit():
        begun: Any = tools.run_agent(
            client, tools.RunAgent(agent_id="seo-specialist", post_id=str(post.pk))
        )
    run: Any = tools.get_agent_run(client, tools.GetAgentRun(run_id=begun["id"]))

    assert [agent["id"] for agent in listed["items"]] == ["general-assistant"]
    assert (run["status"], len(run["staged"]), run["via"]) == ("succeeded", 5, "mcp")
    assert make.live_hash() == before


def test_without_a_scope_every_agent_is_listed() -> None:
    listed: Any = tools.list_agents(make.mcp_actor(), tools.ListAgents())

    assert {"general-assistant", "proofreader", "seo-specialist"} <= {
        agent["id"] for agent in listed["items"]
    }


def test_refusals() -> None:
    post = make.post()
    with pytest.raises(RuleViolation):
        tools.run_agent(
            make.mcp_actor(),
            tools.RunAgent(agent_id="seo-specialist", post_id=str(post.pk), scope="field"),
        )
    with pytest.raises(NotAllowed):
        tools.run_agent(
            make.mcp_actor("translator"),
            tools.RunAgent(agent_id="seo-specialist", post_id=str(post.pk)),
        )
    assert AgentRun.objects.count() == 0
