"""Principals, and the actors that they stand for.

A principal is a credential, not a person; the person behind it is read again for every call that writes, and each
second for those that read, so that an account that was disabled, deleted or demoted loses its rights, open streams
included.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pydantic import BaseModel

from mcp_bridge.access.server_access import ServerAccess
from proofroom.accounts.queries import load_user
from proofroom.accounts.services.agents import system_agent_user
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotAuthenticated
from proofroom.core.tools import Tool
from proofroom.oauth.scopes import AGENTS, DIAGNOSTICS, DIAGNOSTICS_PERMISSION, PROPOSE, READ

SCOPE_KEY = "cms.mcp.principal"
"""Where the accepted principal travels in the scope of a request."""
ACTOR_CACHE_SECONDS: Final = 1.0
TOKEN_PREFIX: Final = "client:"  # noqa: S105  # not a password
"""What the principal of a token begins with; its id follows."""
NO_ACCOUNT_MESSAGE: Final = (
    "No active account stands behind this credential: it was disabled or deleted, or there is no account with "
    "the role ai_agent. An administrator can set MCP_SYSTEM_USER_ID to an active account's id."
)

# "agents.*" governs people; whoever may see the agents may let an AI client run one. People who
# edit posts may let their own client stage. What such a call can reach is held by the services all
# the same.
SUBSTITUTE_PERMISSIONS = {
    "posts.ai-review.save": "posts.edit",
    "agents.dropdown": "agents.view",
    "agents.field": "agents.view",
    "agents.global": "agents.view",
}


@dataclass(frozen=True, slots=True)
class Principal:
    """A credential that was accepted.

    `id` is what sessions, rates and the log are keyed on. `user_id` is the account it is bound to,
    or None for the system's AI user; with another role than `role`, where set, it is not that
    account any more. `tools`, where set, are the only tools it may see and call, and without `starts_agents` none
    that starts an agent; `scopes`, where set, what a
    person allowed a client that they connected. `content_scope` is the content that it is limited to, within that of
    the account.
    """

    id: str
    user_id: int | None = None
    tools: frozenset[str] | None = None
    diagnostics: bool = False
    starts_agents: bool = True
    role: str = ""
    is_counted: bool = True
    scopes: frozenset[str] | None = None
    content_scope: ContentScope = field(default_factory=ContentScope)


def local_principal() -> Principal:
    """The caller on the same machine when no credentials are configured, and whoever starts the
    stdio server."""
    return Principal(id="local", diagnostics=settings.CMS_ENV.mcp_diagnostics)


def credentials_configured() -> bool:
    """Return whether a static credential is set. Raises `ImproperlyConfigured` for half a header pair."""
    environment = settings.CMS_ENV
    if bool(environment.mcp_auth_header_name) != bool(environment.mcp_auth_header_value):
        raise ImproperlyConfigured(
            "MCP_AUTH_HEADER_NAME and MCP_AUTH_HEADER_VALUE belong together: set both or neither."
        )
    return bool(environment.mcp_auth_token or environment.mcp_auth_header_name)


def actor_for(principal: Principal) -> Actor:
    """The actor of one call, read from the database now. Raises `NotAuthenticated` when nobody
    stands behind it."""
    if principal.user_id is not None:
        user = load_user(principal.user_id)
    else:
        user = system_agent_user(settings.CMS_ENV.mcp_system_user_id)
    if user is None or not user.is_active or principal.role not in ("", user.role):
        raise NotAuthenticated(NO_ACCOUNT_MESSAGE, code="no_account")
    return Actor(
        user=user,
        via="mcp",
        principal=principal.id,
        # A token that is bound to an agent's account writes as that agent.
        names_agent=principal.user_id is not None and bool(user.agent_id),
        tools=principal.tools,
        diagnoses=principal.diagnostics
        and not principal.content_scope.is_limited
        and not user.scopes
        and (principal.scopes is None or user.has_perm(DIAGNOSTICS_PERMISSION)),
        # A copy: what is looked up for a scope holds for a call, and a principal for as long as a session.
        limited_to=(replace(principal.content_scope),)
        if principal.content_scope.is_limited
        else (),
    )


def known_actor(principal: Principal, access: ServerAccess) -> Actor:
    """The same for a call that only reads, as it was within the last second."""
    known = access.known
    actor: Actor | None = known.find(principal)
    if actor is None:
        actor = actor_for(principal)
        known.keep(principal, actor, ACTOR_CACHE_SECONDS)
    return actor


def may_use(principal: Principal, actor: Actor, tool: Tool[BaseModel]) -> bool:
    """Return whether the tool is on the caller's list at all: granted to the credential and permitted to
    the user."""
    if principal.tools is not None and tool.name not in principal.tools:
        return False
    if not principal.starts_agents and is_agent_start(tool):
        return False
    if missing_scope(principal, tool):
        return False
    if tool.group == DIAGNOSTICS:  # a grant of the operator's: it asks no right of the account
        return actor.diagnoses
    if not tool.permission or actor.can(tool.permission):
        return True
    stand_in = SUBSTITUTE_PERMISSIONS.get(tool.permission)
    return stand_in is not None and actor.can(stand_in)


def is_agent_start(tool: Tool[BaseModel]) -> bool:
    """Return whether the tool starts an agent, which proposes changes whatever tools its caller has."""
    return tool.group == "agents" and tool.kind != "read"


def missing_scope(principal: Principal, tool: Tool[BaseModel]) -> str:
    """Return the scope that the tool needs and the person did not allow; empty where none is missing."""
    needed = PROPOSE
    if tool.group == DIAGNOSTICS:
        needed = DIAGNOSTICS
    elif is_agent_start(tool):
        needed = AGENTS
    elif tool.kind == "read":
        needed = READ
    return "" if principal.scopes is None or needed in principal.scopes else needed


def require_use(principal: Principal, actor: Actor, tool: Tool[BaseModel]) -> None:
    """Raise `NotAllowed`, saying why, unless the caller may use the tool."""
    if may_use(principal, actor, tool):
        return
    if scope := missing_scope(principal, tool):
        raise NotAllowed(
            f"{tool.name} needs the scope {scope}, which the person who connected this client did not allow. "
            "They can connect it again.",
            code="insufficient_scope",
        )
    if tool.group == DIAGNOSTICS and not principal.diagnostics:
        raise NotAllowed(
            f"{tool.name} is a diagnostics tool, which this credential was not granted "
            "(MCP_DIAGNOSTICS=1, or a token that was made with diagnostics)."
        )
    if principal.tools is not None and tool.name not in principal.tools:
        raise NotAllowed(f"{tool.name} is not on the list of tools of this credential.")
    if not principal.starts_agents and is_agent_start(tool):
        raise NotAllowed(f"{tool.name} starts an agent, which this credential may not.")
    actor.require(tool.permission)
