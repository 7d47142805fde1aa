"""In whose name a tool writes."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from content.layers.stage import require_layer
from content.models import Layer
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.accounts.services.agents import agent_user, is_switched_off, system_agent_user
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed
from proofroom.core.json import JsonObject


def resolve_author(actor: Actor, agent_id: str | None) -> Actor:
    """The actor that a staging tool writes as: the named agent's account, the system's AI user where the agent
    named has none, and where none is named the caller.

    What an agent's account writes is that agent's, also where the client named none.
    The caller's own right to stage is asked first, so that no name lends a right. Raises `NotAllowed` for an
    agent that was switched off, or its account, and where a run names another agent than its own.
    """
    require_layer(actor, Layer.AI_REVIEW)
    if actor.run_id is not None:
        if agent_id and agent_id != actor.agent_id:
            raise NotAllowed(
                f"This run writes as its own agent, {actor.agent_id}; leave agentId out.",
                code="another_agent",
            )
        return actor
    if not agent_id:
        return _as(actor, actor.user)
    if is_switched_off(agent_id):
        raise NotAllowed(
            f"The agent {agent_id!r} or its account is switched off; nothing can be staged in its name. "
            "Leave agentId out to stage as this connection's own account.",
            code="agent_switched_off",
        )
    user = agent_user(agent_id)
    if user is not None:
        return replace(actor, user=user, agent_id=agent_id)
    user = system_agent_user(settings.CMS_ENV.mcp_system_user_id)
    if user is None:
        raise NotAllowed(
            f"No account belongs to an agent {agent_id!r}, and no active system AI user stands in for it. "
            "Leave agentId out to stage as this connection's own account.",
            code="no_account",
        )
    return _as(actor, user)


def present_author(writer: Actor, agent_id: str | None) -> JsonObject:
    """Return who the author is, where it is another than the one that the call named."""
    if not agent_id or writer.agent_id == agent_id:
        return {}
    return {
        "author": writer.user.username,
        "note": f"No account belongs to an agent {agent_id!r}, so {writer.user.username} is the author. "
        "list_agents names the agents.",
    }


def _as(actor: Actor, user: object) -> Actor:
    if not isinstance(user, User):
        return actor
    is_agents = user.role == Role.AI_AGENT and bool(user.agent_id)
    return replace(actor, user=user, agent_id=user.agent_id if is_agents else actor.agent_id)
