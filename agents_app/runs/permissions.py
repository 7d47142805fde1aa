"""The rights of a run: at most its agent's and its starter's, along the whole chain.

Tools are checked when they are listed for a model, and again at each call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from agents_app.definitions.agents import scope_of_agent
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun
from proofroom.accounts.models import User
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import CmsError, NotAllowed
from proofroom.core.tools import Tool, all_tools
from proofroom.core.tools.call import find_tool

UNTRUSTED_KEY: Final = "untrusted"
"""Key of a run's context with visitors' data."""


FORBIDDEN_GROUPS: Final = frozenset({"diagnostics"})
"""Groups of diagnostic tools, which agents can never use."""
EXPLICIT_TOOLS: Final = frozenset({"submit_ai_review_to_review"})
"""Tools that must be listed explicitly: an agent submits its proposals to people only if its file says so."""


def listed_tools(agent: AgentDefinition) -> list[Tool[BaseModel]]:
    """Return the tools listed in the agent's file, or all if it lists none; none without useMCP."""
    return [tool for tool in all_tools() if _is_listed(tool, agent)]


def usable_tools(agent: AgentDefinition, actor: Actor) -> list[Tool[BaseModel]]:
    """Return the tools the agent may use in a run that acts as `actor`, ordered by name."""
    return [tool for tool in listed_tools(agent) if _refusal(tool, agent, actor) is None]


def usable_tool(name: str, agent: AgentDefinition, actor: Actor) -> Tool[BaseModel]:
    """Return the tool with exactly that name. Raises `NotFound`, or `NotAllowed` with the reason."""
    tool = find_tool(name)
    refusal = _refusal(tool, agent, actor)
    if refusal is not None:
        raise refusal
    return tool


def _is_listed(tool: Tool[BaseModel], agent: AgentDefinition) -> bool:
    config = agent.llm_config
    if not config.use_mcp or tool.group in FORBIDDEN_GROUPS:
        return False
    if config.allowed_mcp_tools:
        return tool.name in config.allowed_mcp_tools
    return tool.name not in EXPLICIT_TOOLS


def _refusal(tool: Tool[BaseModel], agent: AgentDefinition, actor: Actor) -> CmsError | None:
    if not _is_listed(tool, agent):
        return NotAllowed(
            f"{tool.name} is not on the list of tools of the agent {agent.id}.",
            code="tool_not_allowed",
        )
    if actor.tools is not None and tool.name not in actor.tools:
        return NotAllowed(
            f"{tool.name} is not on the list of tools of the account that started this run.",
            code="tool_not_allowed",
        )
    if actor.has_read_untrusted and tool.kind != "read":
        return NotAllowed(
            f"{tool.name} is refused: this run has read what visitors or other sites wrote, "
            "so it may only read. Say in your answer what should be done.",
            code="read_only",
        )
    try:
        actor.require(tool.permission)
    except NotAllowed as error:
        return error
    return None


START_PERMISSIONS: Final[Mapping[str, str]] = {
    Scope.DROPDOWN: "agents.dropdown",
    Scope.FIELD: "agents.field",
    Scope.GLOBAL: "agents.global",
    Scope.BULK: "agents.edit",
}
"""The permission a user needs to start a run by hand, by scope."""
_IMPLIED_BY: Final[Mapping[str, str]] = {
    "posts.ai-review.save": "posts.edit",
    "posts.ai-review.approve": "posts.edit",
}
"""Permissions implied by others: users who may edit posts may also let agents propose and submit changes."""


def narrow_rights(run: AgentRun, actor: Actor) -> None:
    """Store the limits a new run inherits from its starter.

    Users and events let an agent use all its rights, because starting it is their permission. An AI
    client or another run passes on only what it has itself. The starter's content scope limits the
    run. These limits, and the mark that untrusted content was read, apply to the whole chain, also
    across events.
    """
    cause = run.cause_run
    context = run.context if isinstance(run.context, Mapping) else {}
    run.has_read_untrusted = (
        actor.has_read_untrusted
        or UNTRUSTED_KEY in context
        or (cause is not None and cause.has_read_untrusted)
    )
    if cause is not None and run.event is None and not cause.stages_value:
        run.stages_value = False
    run.confined_to = run.post.translation_group if run.post is not None else actor.confined_to
    if run.event is None:
        run.content_scopes = [scope.to_json() for scope in actor.scopes if scope.is_limited]
    elif cause is not None:
        run.content_scopes = cause.content_scopes
    if run.event is not None or actor.is_person:
        return
    run.tools = None if actor.tools is None else sorted(actor.tools)
    rights = permissions_of(Role.AI_AGENT)
    inherited = [
        right
        for right in rights
        if actor.can(right) or (right in _IMPLIED_BY and actor.can(_IMPLIED_BY[right]))
    ]
    # None means all rights of agents.
    run.permissions = None if len(inherited) == len(rights) else sorted(inherited)


def run_actor(run: AgentRun, agent: AgentDefinition, account: User) -> Actor:
    """Return the actor of a run: the agent's account, limited to the rights of the run.

    The agent's own content scope is read now, because it may have been reduced since. One query.
    """
    own = scope_of_agent(agent.id)
    return Actor(
        user=account,
        via="agent",
        agent_id=agent.id,
        run_id=str(run.pk),
        event_id=run.event_id,
        hop=run.hop + 1,
        permissions=None if run.permissions is None else frozenset(run.permissions),
        tools=None if run.tools is None else frozenset(run.tools),
        confined_to=run.confined_to,
        has_read_untrusted=run.has_read_untrusted,
        limited_to=(
            *map(ContentScope.from_json, run.content_scopes),
            *([own] if own.is_limited else []),
        ),
    )
