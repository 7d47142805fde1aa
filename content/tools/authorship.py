"""In whose name a tool writes."""

from __future__ import annotations

from dataclasses import replace

from accounts.models import User
from accounts.roles import Role
from accounts.services import agent_user, is_switched_off
from content.layers.stage import require_layer
from content.models import Layer
from core.actor import Actor
from core.errors import NotAllowed


def author(actor: Actor, agent_id: str | None) -> Actor:
    """The actor that a staging tool writes as: the named agent's account where there is one, else the caller.

    What an agent's account writes is that agent's, also where the client named none.
    The caller's own right to stage is asked first, so that no name lends a right. Raises `NotAllowed` for an
    agent whose account was switched off, and where a run names another agent than its own.
    """
    require_layer(actor, Layer.AI_REVIEW)
    if actor.run_id is not None:
        return _of_run(actor, agent_id)
    if agent_id and is_switched_off(agent_id):
        raise NotAllowed(
            f"The account of the agent {agent_id!r} is switched off; nothing can be staged in its name. "
            "Leave agentId out to stage as this connection's own account.",
            code="agent_switched_off",
        )
    user = agent_user(agent_id) if agent_id else None
    if user is not None:
        return replace(actor, user=user, agent_id=agent_id)
    own = actor.user
    if isinstance(own, User) and own.role == Role.AI_AGENT and own.agent_id:
        return replace(actor, agent_id=own.agent_id)
    return actor


def _of_run(actor: Actor, agent_id: str | None) -> Actor:
    if agent_id and agent_id != actor.agent_id:
        raise NotAllowed(
            f"This run writes as its own agent, {actor.agent_id}; leave agentId out.",
            code="another_agent",
        )
    return actor
