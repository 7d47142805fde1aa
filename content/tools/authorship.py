"""In whose name a tool writes."""

from __future__ import annotations

from dataclasses import replace

from accounts.services import agent_user, is_switched_off
from content.layers.stage import require_layer
from content.models import Layer
from core.actor import Actor
from core.errors import NotAllowed


def author(actor: Actor, agent_id: str | None) -> Actor:
    """The actor that a staging tool writes as: the named agent's account where there is one, else the caller.

    The caller's own right to stage is asked first, so that no name lends a right. Raises `NotAllowed` for an
    agent whose account was switched off.
    """
    require_layer(actor, Layer.AI_REVIEW)
    if agent_id and is_switched_off(agent_id):
        raise NotAllowed(
            f"The account of the agent {agent_id!r} is switched off; nothing can be staged in its name. "
            "Leave agentId out to stage as this connection's own account.",
            code="agent_switched_off",
        )
    user = agent_user(agent_id) if agent_id else None
    return actor if user is None else replace(actor, user=user, agent_id=agent_id)
