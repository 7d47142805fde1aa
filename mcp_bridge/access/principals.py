"""Principals, and their actors.

A principal is a credential, not a person. Its account is read again for every call that writes, and
at most a second old for calls that read, so that a disabled, deleted or demoted account loses its
rights, including open streams.
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
"""Key of the accepted principal in the scope of a request."""
ACTOR_CACHE_SECONDS: Final = 1.0
TOKEN_PREFIX: Final = "client:"  # noqa: S105  # not a password
"""Prefix of a token's principal, followed by the token's id."""
NO_ACCOUNT_MESSAGE: Final = (
    "No active account stands behind this credential: it was disabled or deleted, or there is no account with "
    "the role ai_agent. An administrator can set MCP_SYSTEM_USER_ID to an active account's id."
)

# "agents.*" are permissions of people; callers who may see agents may let an AI client run one.
# People who edit posts may let their own client stage changes. The services check the content of
# each call in any case.
SUBSTITUTE_PERMISSIONS = {
    "posts.ai-review.save": "posts.edit",
    "agents.dropdown": "agents.view",
    "agents.field": "agents.view",
    "agents.global": "agents.view",
}


@dataclass(frozen=True, slots=True)
class Principal:
    """An accepted credential.

    `id` is the key of sessions, rates and the log. `user_id` is its account, or None for the
    system's AI user; if `role` is set and differs from the account's, the credential is not valid
    any more. `tools`, if set, are the only tools it may see and call; without `starts_agents` it
    may not start agents. `scopes`, if set, are those a person granted to a connected client.
    `tool_set` is what it lists: all tools or the core set. `content_scope` limits it further than its
    account.
    """

    id: str
    user_id: int | None = None
    tools: frozenset[str] | None = None
    diagnostics: bool = False
    starts_agents: bool = True
    role: str = ""
    is_counted: bool = True
    scopes: frozenset[str] | None = None
    tool_set: str = "all"
    content_scope: ContentScope = field(default_factory=ContentScope)


def local_principal() -> Principal:
    """Return the principal of a caller on this machine without configured credentials, and of the stdio server."""
    return Principal(id="local", diagnostics=settings.CMS_ENV.mcp_diagnostics)


def credentials_configured() -> bool:
    """Return True if a static credential is set. Raises `ImproperlyConfigured` for half a header pair."""
    environment = settings.CMS_ENV
    if bool(environment.mcp_auth_header_name) != bool(environment.mcp_auth_header_value):
        raise ImproperlyConfigured(
            "MCP_AUTH_HEADER_NAME and MCP_AUTH_HEADER_VALUE belong together: set both or neither."
        )
    return bool(environment.mcp_auth_token or environment.mcp_auth_header_name)


def actor_for(principal: Principal) -> Actor:
    """Return the actor of one call, read from the database now. Raises `NotAuthenticated` without a
    usable account.
    """
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
        # A token bound to an agent's account writes as that agent.
        names_agent=principal.user_id is not None and bool(user.agent_id),
        tools=principal.tools,
        diagnoses=principal.diagnostics
        and not principal.content_scope.is_limited
        and not user.scopes
        # A connected client gets diagnostics only while its person may use them.
        and (principal.scopes is None or user.has_perm(DIAGNOSTICS_PERMISSION)),
        # A copy, because a scope caches its lookups: an actor lives for a call, a principal as long
        # as a session.
        limited_to=(replace(principal.content_scope),)
        if principal.content_scope.is_limited
        else (),
    )


def known_actor(principal: Principal, access: ServerAccess) -> Actor:
    """Return the actor for a call that only reads, at most one second old."""
    known = access.known
    actor: Actor | None = known.find(principal)
    if actor is None:
        actor = actor_for(principal)
        known.keep(principal, actor, ACTOR_CACHE_SECONDS)
    return actor


def may_use(principal: Principal, actor: Actor, tool: Tool[BaseModel]) -> bool:
    """Return True if the tool is granted to the credential and permitted to its user."""
    if principal.tools is not None and tool.name not in principal.tools:
        return False
    if not principal.starts_agents and is_agent_start(tool):
        return False
    if missing_scope(principal, tool):
        return False
    if tool.group == DIAGNOSTICS:  # granted by the operator, so it needs no right of the account
        return actor.diagnoses
    if not tool.permission or actor.can(tool.permission):
        return True
    stand_in = SUBSTITUTE_PERMISSIONS.get(tool.permission)
    return stand_in is not None and actor.can(stand_in)


def is_agent_start(tool: Tool[BaseModel]) -> bool:
    """Return True if the tool starts an agent, which may propose changes even if its caller's tools may not."""
    return tool.group == "agents" and tool.kind != "read"


def missing_scope(principal: Principal, tool: Tool[BaseModel]) -> str:
    """Return the scope that the tool needs and the client does not have; empty if none."""
    needed = PROPOSE
    if tool.group == DIAGNOSTICS:
        needed = DIAGNOSTICS
    elif is_agent_start(tool):
        needed = AGENTS
    elif tool.kind == "read":
        needed = READ
    return "" if principal.scopes is None or needed in principal.scopes else needed


def require_use(principal: Principal, actor: Actor, tool: Tool[BaseModel]) -> None:
    """Raise `NotAllowed` with the reason, unless the caller may use the tool."""
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
        raise NotAllowed(f"{tool.name} starts an agent, which this credential must not do.")
    actor.require(tool.permission)
