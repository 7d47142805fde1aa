"""Switches of agents, and the accounts that they write under."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from agents_app.definitions.files import all_agents, get_agent
from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentSwitch
from proofroom.accounts.models import User
from proofroom.accounts.services import (
    agent_user,
    ensure_agent_user,
    rename_agent_user,
    system_agent_user,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.json import JsonObject

logger = logging.getLogger(__name__)


def unknown_agent(agent_id: str) -> NotFound:
    return NotFound(
        gettext("No agent is named %(agent_id)r.") % {"agent_id": agent_id[:80]},
        code="unknown_agent",
    )


def switched() -> dict[str, bool]:
    """Return the switches that people set, by agent id."""
    return dict(AgentSwitch.objects.values_list("agent_id", "is_enabled"))


def enabled_agent(agent_id: str) -> AgentDefinition:
    """The agent, if it is on; an agent that is off answers like one that does not exist (`NotFound`)."""
    agent = get_agent(agent_id)
    if agent is None or not switched().get(agent_id, agent.enabled):
        raise unknown_agent(agent_id)
    return agent


def only_enabled(agents: list[AgentDefinition]) -> list[AgentDefinition]:
    """Return the agents that are on, in the same order. One query."""
    switches = switched()
    return [agent for agent in agents if switches.get(agent.id, agent.enabled)]


def is_off(agent_id: str) -> bool:
    """Return whether there is such an agent and it is off."""
    agent = get_agent(agent_id)
    return agent is not None and not switched().get(agent_id, agent.enabled)


@transaction.atomic
def switch_agent(*, agent_id: str, enabled: bool, actor: Actor) -> AgentSwitch:
    """Switch an agent on or off, whatever its file says."""
    actor.require_person("switch agents")
    actor.require("agents.edit")
    if get_agent(agent_id) is None:
        raise unknown_agent(agent_id)
    switch, _ = AgentSwitch.objects.update_or_create(
        agent_id=agent_id,
        defaults={"is_enabled": enabled, "updated_by_id": actor.user.pk},
    )
    payload: JsonObject = {"id": agent_id, "enabled": enabled}
    outbox.record("agent.switched", actor=actor, payload=payload)
    return switch


def account_of(agent: AgentDefinition) -> User | None:
    """The account that an agent writes under: its own, or the system's where it is to have none.

    None where that account was switched off: the agent may write nothing then.
    """
    if not agent.user_account.enabled:
        return system_agent_user(settings.CMS_ENV.mcp_system_user_id)
    found = agent_user(agent.id)
    if found is not None:
        return found
    user = ensure_agent_user(
        agent_id=agent.id,
        email=agent.user_account.email or "",
        username=agent.user_account.username or "",
    )
    return user if user.is_active and user.role == "ai_agent" else None


def bootstrap_agent_users() -> int:
    """Make the accounts that agents should have from the start. Answers how many agents have one now."""
    if settings.CMS_ENV.agent_users_bootstrap_disabled:
        return 0
    wanted = [
        agent
        for agent in all_agents()
        if agent.user_account.enabled and agent.user_account.create_at_boot
    ]
    number = 0
    for agent in wanted:
        account = agent.user_account
        try:
            rename_agent_user(
                agent_id=agent.id, email=account.email or "", username=account.username or ""
            )
            number += account_of(agent) is not None
        except RuleViolation as error:
            # One agent whose account cannot be made must not keep the site from starting.
            logger.error("The agent %s has no account: %s", agent.id, error.message)
    return number
