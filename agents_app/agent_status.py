"""The current state of agents: switch, provider, tools and account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from django.apps import apps
from django.conf import settings
from django.db.models import Max

from agents_app.definitions.agents import all_agents, catalogue, get_agent, switched, unknown_agent
from agents_app.definitions.checks import UnknownName, unknown_forms, unknown_names
from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.versions import AgentVersions, load_all_versions, versions_of
from agents_app.models import AgentRun
from agents_app.providers.interface import DEMO_PROVIDER, ProviderError
from agents_app.providers.selection import (
    AiDefaults,
    choose_fallback,
    choose_media_provider,
    choose_provider,
    load_ai_defaults,
)
from agents_app.runs.permissions import listed_tools
from agents_app.runs.scopes import visible_runs
from forms.models import FormDefinition
from proofroom.accounts.models import User
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.roles import Role
from proofroom.accounts.services.agents import system_agent_user
from proofroom.core.actor import Actor

AccountState = Literal["own", "shared", "off", "missing"]
ACCOUNT_STATES: Final = get_args(AccountState)
MAKES_IMAGES: Final = "generate_image"


@dataclass(frozen=True, slots=True)
class ResolvedProvider:
    """The provider and model that would answer now. `problem` is the reason if none would. Never contains a key."""

    provider: str
    model: str
    problem: str = ""

    @property
    def is_demo(self) -> bool:
        return self.provider == DEMO_PROVIDER


@dataclass(frozen=True, slots=True)
class AgentAccount:
    """The account an agent acts under: its `own`, the system's (`shared`), a disabled one (`off`), or
    none yet (`missing`; created on first use).
    """

    state: AccountState
    username: str
    user_id: int | None


@dataclass(frozen=True, slots=True)
class Agent:
    """The current state of an agent. `media` is set if it may generate images. `tools`: the tools
    named in its file that its role may use. `text`: the provider of its champion; `challenger`: that of
    its challenger, if there is one; `fallback`: the provider that answers during an outage.
    """

    definition: AgentDefinition
    is_enabled: bool
    text: ResolvedProvider
    fallback: ResolvedProvider | None
    media: ResolvedProvider | None
    tools: tuple[str, ...]
    account: AgentAccount
    doubts: tuple[UnknownName, ...]
    last: AgentRun | None
    versions: AgentVersions
    challenger: ResolvedProvider | None

    @property
    def defined_in(self) -> str:
        return place_of(catalogue().files[self.definition.id])


def agents(actor: Actor, definitions: Sequence[AgentDefinition] | None = None) -> list[Agent]:
    """Return the given agents, or all ordered by id, with their latest run visible to the actor.

    Always eight queries.
    """
    found = all_agents() if definitions is None else list(definitions)
    switches, defaults = switched(), load_ai_defaults()
    system = system_agent_user(settings.CMS_ENV.mcp_system_user_id)
    users = {user.agent_id: user for user in User.objects.exclude(agent_id="")}
    seen = visible_runs(AgentRun.objects.all(), actor, actor.user.pk)
    runs = seen.filter(agent_id__in=[item.id for item in found])
    # Two queries for all agents: the latest time of each, then the rows with these times.
    latest = dict(runs.order_by().values_list("agent_id").annotate(last=Max("created_at")))
    # Runs of other agents may have one of these times; the next line drops them.
    rows = runs.filter(created_at__in=set(latest.values())).defer("context", "value")
    last = {row.agent_id: row for row in rows if latest.get(row.agent_id) == row.created_at}
    rights = permissions_of(Role.AI_AGENT)
    forms = set(FormDefinition.objects.values_list("slug", flat=True))
    contests = load_all_versions()
    versions = {item.id: versions_of(item, contests) for item in found}
    return [
        Agent(
            definition=item,
            is_enabled=switches.get(item.id, item.enabled),
            text=_answering(versions[item.id].champion, defaults),
            fallback=_fallback(versions[item.id].champion, defaults),
            media=_media(item, defaults),
            tools=tuple(tool.name for tool in listed_tools(item) if tool.permission in rights),
            account=_account(item, users, system),
            doubts=(*unknown_names(item), *unknown_forms(item, forms)),
            last=last.get(item.id),
            versions=versions[item.id],
            challenger=_challenging(versions[item.id], defaults),
        )
        for item in found
    ]


def find_agent(*, agent_id: str, actor: Actor) -> Agent:
    """Return an agent, on or off. Raises `NotFound`, `NotAllowed`."""
    actor.require("agents.view")
    definition = get_agent(agent_id)
    if definition is None:
        raise unknown_agent(agent_id)
    (found,) = agents(actor, [definition])
    return found


def place_of(file: Path) -> str:
    """Return the location of a file without the server's directories."""
    for app in apps.get_app_configs():
        if file.parent == Path(app.path) / "agents":
            return f"{app.label}/agents/{file.name}"
    return f"CMS_AGENTS_DIR/{file.name}"


def _answering(agent: AgentDefinition, defaults: AiDefaults) -> ResolvedProvider:
    try:
        choice = choose_provider(agent.llm_config, agent.id, defaults)
        return ResolvedProvider(choice.provider, choice.model)
    except ProviderError as error:
        config = agent.llm_config
        named = config.provider_text or defaults.text_provider or config.provider or ""
        return ResolvedProvider(named, "", str(error))


def _challenging(versions: AgentVersions, defaults: AiDefaults) -> ResolvedProvider | None:
    return None if versions.challenger is None else _answering(versions.challenger, defaults)


def _fallback(agent: AgentDefinition, defaults: AiDefaults) -> ResolvedProvider | None:
    try:
        first = choose_provider(agent.llm_config, agent.id, defaults)
    except ProviderError:
        return None
    choice = choose_fallback(agent.llm_config, agent.id, first, defaults)
    return ResolvedProvider(choice.provider, choice.model) if choice is not None else None


def _media(agent: AgentDefinition, defaults: AiDefaults) -> ResolvedProvider | None:
    if MAKES_IMAGES not in {tool.name for tool in listed_tools(agent)}:
        return None
    try:
        choice = choose_media_provider(agent.llm_config, agent.id, defaults)
        return ResolvedProvider(choice.provider, choice.model)
    except ProviderError as error:
        named = agent.llm_config.provider_media or defaults.media_provider
        return ResolvedProvider(named, "", str(error))


def _account(agent: AgentDefinition, users: dict[str, User], system: User | None) -> AgentAccount:
    if not agent.user_account.enabled:
        return (
            AgentAccount("shared", system.username, system.pk)
            if system
            else AgentAccount("off", "", None)
        )
    user = users.get(agent.id)
    if user is None:
        return AgentAccount("missing", agent.user_account.username or f"agent:{agent.id}", None)
    is_usable = user.is_active and user.role == Role.AI_AGENT
    return AgentAccount("own" if is_usable else "off", user.username, user.pk)
