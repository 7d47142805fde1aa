"""Who is calling: from the headers of a request to a principal, and from a principal to an actor.

A principal is a credential, not a person; the person behind it is read again for every call, so
that an account that was disabled, deleted or demoted loses its rights at once, open streams
included.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pydantic import BaseModel

from accounts.models import User
from accounts.services import system_agent_user
from core.actor import Actor
from core.errors import NotAllowed, NotAuthenticated
from core.tools import Tool

RawHeaders = Iterable[tuple[bytes, bytes]]
DIAGNOSTICS = "diagnostics"
SCOPE_KEY = "cms.mcp.principal"
"""Where the accepted principal travels in the scope of a request."""

# "agents.*" governs people; whoever may see the agents may let an AI client run one. People who
# edit posts may let their own client stage. What such a call can reach is held by the services all
# the same.
STANDS_IN = {
    "posts.ai-review.save": "posts.edit",
    "agents.dropdown": "agents.view",
    "agents.field": "agents.view",
    "agents.global": "agents.view",
}


@dataclass(frozen=True, slots=True)
class Principal:
    """A credential that was accepted.

    `id` is what sessions, rates and the log are keyed on. `user_id` is the account it is bound to,
    or None for the system's AI user. `tools`, where set, are the only tools it may see and call.
    """

    id: str
    user_id: int | None = None
    tools: frozenset[str] | None = None
    diagnostics: bool = False


def local_principal() -> Principal:
    """The caller on the same machine when no credentials are configured, and whoever starts the
    stdio server."""
    return Principal(id="local", diagnostics=settings.CMS_ENV.mcp_diagnostics)


def credentials_configured() -> bool:
    """Whether a static credential is set. Raises `ImproperlyConfigured` for half a header pair."""
    environment = settings.CMS_ENV
    if bool(environment.mcp_auth_header_name) != bool(environment.mcp_auth_header_value):
        raise ImproperlyConfigured(
            "MCP_AUTH_HEADER_NAME and MCP_AUTH_HEADER_VALUE belong together: set both or neither."
        )
    return bool(environment.mcp_auth_token or environment.mcp_auth_header_name)


def principal_for(headers: RawHeaders, client: str | None = None) -> Principal | None:
    """The principal of a request, or None for no or wrong credentials.

    `headers` are raw and with lower-case names; `client` is the address that the connection came
    from. Secrets are compared in constant time, and an unset secret matches nothing.
    """
    values: dict[bytes, bytes] = {}
    for name, value in headers:
        values.setdefault(name.lower(), value.strip(b" \t"))
    if not credentials_configured():
        return local_principal() if _is_loopback(client) else None
    return _static_principal(values) or _client_principal(values)


def _static_principal(headers: dict[bytes, bytes]) -> Principal | None:
    environment = settings.CMS_ENV
    if _same(_bearer(headers), environment.mcp_auth_token):
        return Principal(id="token", diagnostics=environment.mcp_diagnostics)
    name = (environment.mcp_auth_header_name or "").lower().encode()
    if name and _same(headers.get(name), environment.mcp_auth_header_value):
        return Principal(id="header", diagnostics=environment.mcp_diagnostics)
    return None


def _client_principal(headers: dict[bytes, bytes]) -> Principal | None:
    """The place for per-client tokens from the admin: none exist yet, so none is accepted."""
    return None


def _bearer(headers: dict[bytes, bytes]) -> bytes | None:
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip(b" ") if scheme.lower() == b"bearer" else None


def _same(given: bytes | None, expected: str | None) -> bool:
    return bool(given and expected) and hmac.compare_digest(given or b"", (expected or "").encode())


def _is_loopback(client: str | None) -> bool:
    if client is None:
        return False
    try:
        return ip_address(client).is_loopback
    except ValueError:
        return False


def actor_for(principal: Principal) -> Actor:
    """The actor of one call, read from the database now. Raises `NotAuthenticated` when nobody
    stands behind it."""
    user = _user_of(principal)
    if user is None or not user.is_active:
        raise NotAuthenticated(
            "No active account stands behind this credential: it was disabled or deleted, or "
            "there is no account with the role ai_agent. An administrator can set "
            "MCP_SYSTEM_USER_ID to an active account's id.",
            code="no_account",
        )
    return Actor(
        user=user,
        via="mcp",
        principal=principal.id,
        tools=principal.tools,
        diagnoses=principal.diagnostics,
    )


def _user_of(principal: Principal) -> User | None:
    if principal.user_id is not None:
        return User.objects.filter(pk=principal.user_id).first()
    return system_agent_user(settings.CMS_ENV.mcp_system_user_id)


def may_use(principal: Principal, actor: Actor, tool: Tool[BaseModel]) -> bool:
    """Whether the tool is on the caller's list at all: granted to the credential and permitted to
    the user."""
    if principal.tools is not None and tool.name not in principal.tools:
        return False
    if tool.group == DIAGNOSTICS:  # a grant of the operator's: it asks no right of the account
        return principal.diagnostics
    if not tool.permission or actor.can(tool.permission):
        return True
    stand_in = STANDS_IN.get(tool.permission)
    return stand_in is not None and actor.can(stand_in)


def require_use(principal: Principal, actor: Actor, tool: Tool[BaseModel]) -> None:
    """Raise `NotAllowed`, saying why, unless the caller may use the tool."""
    if may_use(principal, actor, tool):
        return
    if tool.group == DIAGNOSTICS and not principal.diagnostics:
        raise NotAllowed(
            f"{tool.name} is a diagnostics tool, which this credential was not granted "
            "(MCP_DIAGNOSTICS=1)."
        )
    if principal.tools is not None and tool.name not in principal.tools:
        raise NotAllowed(f"{tool.name} is not on the list of tools of this credential.")
    actor.require(tool.permission)
