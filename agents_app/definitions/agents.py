"""Agents of this site: their files, switches and accounts.

Agents are files: `agents/<id>.md` or `<id>.json` in any installed app, and in CMS_AGENTS_DIR.
`proofroom.core.definition_files` finds the files and reports broken ones.
"""

from __future__ import annotations

import logging
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from agents_app.definitions.field_keys import type_of_key
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentSwitch
from proofroom.accounts.models import User
from proofroom.accounts.services.agents import (
    agent_user,
    ensure_agent_user,
    rename_agent_user,
    system_agent_user,
)
from proofroom.accounts.services.content_scopes import check_scope
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.agent_directory import AgentDirectory
from proofroom.core.content_scope import ContentScope
from proofroom.core.definition_files import DefinitionFiles, Unreadable, from_json, from_yaml
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.json import JsonObject

logger = logging.getLogger(__name__)


def _front_matter(text: str) -> object:
    """Return the YAML between the two `---` lines, with the body as `llmConfig.systemPrompt`."""
    # Editors on Windows may save a byte order mark.
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise Unreadable(("front matter", "the file must begin with a line '---'"))
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise Unreadable(("front matter", "there is no second line '---' that ends it"))
    values = from_yaml("\n".join(lines[1:end]), "front matter")
    if not isinstance(values, dict):
        raise Unreadable(("front matter", "it must hold fields by name"))
    config = values.setdefault("llmConfig", {})
    body = "\n".join(lines[end + 1 :]).strip()
    if isinstance(config, dict) and body:
        if "systemPrompt" in config:
            raise Unreadable(
                ("llmConfig.systemPrompt", "the body of the file is the prompt already")
            )
        config["systemPrompt"] = body
    return values


FILES: Final = DefinitionFiles(
    "agents",
    AgentDefinition,
    {".md": _front_matter, ".json": from_json},
    lambda: settings.CMS_ENV.cms_agents_dir,
)
all_agents = FILES.all
get_agent = FILES.get
catalogue = FILES.catalogue
reload = FILES.reload


def translators() -> list[AgentDefinition]:
    """Return the agents that users may start on a post and that receive the source of a translation."""
    return [one for one in agents_for(Scope.DROPDOWN) if one.entries(Scope.CREATE_TRANSLATION)]


def agents_for(
    scope: str,
    field_type: str | None = None,
    field_key: str | None = None,
    form_slug: str | None = None,
) -> list[AgentDefinition]:
    """Return the agents of a scope in ascending order, on or off. None skips a filter.

    The field type defaults to the type of the field key.
    """
    field_type = field_type or (type_of_key(field_key) if field_key else None)
    found = []
    for agent in all_agents():
        orders = [
            entry.order
            for entry in agent.entries(scope)
            if entry.serves(field_type=field_type, field_key=field_key, form_slug=form_slug)
        ]
        if orders:
            found.append((min(orders), agent.id, agent))
    return [agent for _, _, agent in sorted(found, key=lambda item: item[:2])]


def unknown_agent(agent_id: str) -> NotFound:
    return NotFound(
        gettext("No agent is named %(agent_id)r.") % {"agent_id": agent_id[:80]},
        code="unknown_agent",
    )


def switched() -> dict[str, bool]:
    """Return the switches set by users, by agent id."""
    switches = AgentSwitch.objects.filter(is_enabled__isnull=False)
    return {id_: bool(is_on) for id_, is_on in switches.values_list("agent_id", "is_enabled")}


def scope_of_agent(agent_id: str) -> ContentScope:
    """Return the content that an agent is limited to. One query."""
    found = AgentSwitch.objects.filter(agent_id=agent_id).values_list("content_scope", flat=True)
    return ContentScope.from_json(found[0]) if found else ContentScope()


@transaction.atomic
def limit_agent(*, agent_id: str, scope: ContentScope, actor: Actor) -> AgentSwitch:
    """Limit an agent to a part of the content: its runs see and propose nothing else, however they are
    started.

    Raises `RuleViolation` by part of the scope.
    """
    actor.require_person("limit agents")
    actor.require("agents.edit")
    if get_agent(agent_id) is None:
        raise unknown_agent(agent_id)
    switch, _ = AgentSwitch.objects.update_or_create(
        agent_id=agent_id,
        defaults={
            "content_scope": check_scope(scope, actor).to_json(),
            "updated_by_id": actor.user.pk,
        },
    )
    payload: JsonObject = {"id": agent_id, "scope": switch.content_scope}
    outbox.record("agent.limited", actor=actor, payload=payload)
    return switch


def enabled_agent(agent_id: str) -> AgentDefinition:
    """Return the agent if it is on. Raises the same `NotFound` for an agent that is off and one that
    does not exist.
    """
    agent = get_agent(agent_id)
    if agent is None or not switched().get(agent_id, agent.enabled):
        raise unknown_agent(agent_id)
    return agent


def only_enabled(agents: list[AgentDefinition]) -> list[AgentDefinition]:
    """Return the agents that are on, in the same order. One query."""
    switches = switched()
    return [agent for agent in agents if switches.get(agent.id, agent.enabled)]


class DefinedAgents(AgentDirectory):
    """The agents of this site, for apps below this one."""

    def name(self, agent_id: str) -> str:
        agent = get_agent(agent_id)
        return agent.name if agent else ""

    def is_off(self, agent_id: str) -> bool:
        agent = get_agent(agent_id)
        return agent is not None and not switched().get(agent_id, agent.enabled)

    def content_scope(self, agent_id: str) -> ContentScope:
        return scope_of_agent(agent_id)


@transaction.atomic
def switch_agent(*, agent_id: str, enabled: bool, actor: Actor) -> AgentSwitch:
    """Switch an agent on or off, overriding its file."""
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
    """Return the account an agent acts under: its own, or the system's if its file disables the own
    one.

    Returns None if the account is disabled; the agent may not write anything then.
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
    # An administrator may have disabled the account or changed its role.
    return user if user.is_active and user.role == "ai_agent" else None


def has_usable_account(agent: AgentDefinition) -> bool:
    """Return True if `account_of` would return an account. Creates none. One query."""
    if not agent.user_account.enabled:
        return system_agent_user(settings.CMS_ENV.mcp_system_user_id) is not None
    user = User.objects.filter(agent_id=agent.id).first()
    return user is None or (user.is_active and user.role == "ai_agent")


def bootstrap_agent_users() -> int:
    """Create the accounts of agents at start. Return the number of agents that have one."""
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
            logger.error("Cannot create the account of agent %s: %s", agent.id, error.message)
    return number
