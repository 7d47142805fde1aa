"""Dry runs: an agent asked as ever, whose answer is shown and proposed nowhere."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.definitions.switches import enabled_agent
from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from agents_app.runs.tool_policy import listed_tools
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid

_DRY_RUN_SCOPES: Final = (Scope.DROPDOWN, Scope.BULK, Scope.GLOBAL)


def dry_run_scope(agent: AgentDefinition) -> Scope | None:
    """The scope that an agent is tried out in; None for one that serves only fields or events."""
    return next((scope for scope in _DRY_RUN_SCOPES if agent.entries(scope)), None)


@transaction.atomic
def start_dry_run(
    *, agent_id: str, post_id: UUID | str, actor: Actor, open_ended_context: str | None = None
) -> AgentRun:
    """Begin a dry run on a post. It costs what a run costs, may only look things up, and has no reactions.

    Raises what `create_run` raises, and `RuleViolation` for an agent that people cannot begin on a post.
    """
    actor.require_person("try an agent out")
    actor.require("agents.edit")
    agent = enabled_agent(agent_id)
    scope = dry_run_scope(agent)
    if scope is None:
        raise invalid(
            "agentId",
            _(
                "The agent %(id)s runs only at fields or with events, so that it cannot be tried out "
                "here."
            )
            % {"id": agent.id},
            code="agent_not_in_scope",
        )
    run = create_run(
        agent_id=agent.id,
        scope=scope,
        actor=actor,
        post_id=post_id,
        open_ended_context=open_ended_context,
        stages_value=False,
    )
    run.is_dry = True
    run.tools = sorted(tool.name for tool in listed_tools(agent) if tool.kind == "read")
    run.save(update_fields=["is_dry", "tools"])
    return run
