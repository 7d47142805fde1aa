"""Tokens of AI clients: creation, revocation, and lookup by secret."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from mcp_bridge.access.connected_clients import still_connected
from mcp_bridge.access.principals import TOKEN_PREFIX, Principal, is_agent_start, may_use
from mcp_bridge.access.token_holders import Account, TokenHolder
from mcp_bridge.access.tool_sets import ToolSet
from mcp_bridge.models import McpToken
from proofroom.accounts.models import User
from proofroom.accounts.services import account_tokens
from proofroom.accounts.services.account_tokens import TokenUse, hash_of, record_use
from proofroom.accounts.services.agents import system_agent_user
from proofroom.accounts.services.content_scopes import check_scope
from proofroom.accounts.services.role_grants import require_permissions_of_role
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom.core.tools import get_tool
from proofroom.core.tools.call import unknown_tool
from proofroom.oauth.connections import CONNECTION_PREFIX
from proofroom.oauth.scopes import DIAGNOSTICS_PERMISSION

PREFIX: Final = "cmsmcp_"


@transaction.atomic
def create_token(
    *,
    name: str,
    user_id: int,
    actor: Actor,
    tools: Collection[str] = (),
    diagnostics: bool = False,
    starts_agents: bool = True,
    tool_set: ToolSet = "all",
    expires_at: datetime | None = None,
    scope: ContentScope | None = None,
) -> tuple[McpToken, str]:
    """Create a token bound to the account. Return it with its secret, which cannot be read again.

    Without `tools` it may call all that the account may use; without `starts_agents` no tool that
    starts an agent; with the `tool_set` core it lists fewer; `scope` limits it to a part of the content.
    Raises `NotAllowed`, or `RuleViolation` by field.
    """
    account_tokens.allow(actor)
    name = account_tokens.check_token(name, expires_at)
    owner = account_tokens.lock_owner(user_id, may_be_agent=True)
    # Otherwise a manager of tokens could act with an administrator's rights.
    require_permissions_of_role(actor, owner.role)
    if diagnostics:
        actor.require(DIAGNOSTICS_PERMISSION)
    limits = scope or ContentScope()
    _refuse_diagnostics(diagnostics, (limits, *owner.scopes))
    token, secret = account_tokens.make(
        McpToken,
        PREFIX,
        name=name,
        user=owner,
        role=owner.role,
        expires_at=expires_at,
        actor=actor,
        tools=_check_tools(tools, owner, diagnostics, starts_agents),
        diagnostics=diagnostics,
        starts_agents=starts_agents,
        tool_set=tool_set,
        content_scope=check_scope(limits, actor).to_json(),
    )
    payload: JsonObject = {
        "id": str(token.pk),
        "name": token.name,
        "userId": owner.pk,
        "tools": [*token.tools],
        "diagnostics": diagnostics,
        "startsAgents": starts_agents,
        "toolSet": tool_set,
    }
    if token.content_scope:
        payload["scope"] = token.content_scope
    outbox.record("mcp_token.created", actor=actor, payload=payload)
    return token, secret


@transaction.atomic
def limit_token(*, token_id: UUID, scope: ContentScope, actor: Actor) -> McpToken:
    """Limit a token to a part of the content. Its open sessions end within seconds and can be opened
    again.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` by part.
    """
    return account_tokens.limit(
        McpToken,
        token_id,
        scope,
        actor,
        check=lambda token: _refuse_diagnostics(token.diagnostics, (scope,)),
        event="mcp_token.limited",
    )


@transaction.atomic
def revoke_token(*, token_id: UUID, actor: Actor) -> McpToken:
    """Revoke a token; its open sessions end within seconds. Idempotent. Raises `NotAllowed` or `NotFound`."""
    account_tokens.allow(actor)
    token, is_new = account_tokens.revoke(McpToken, token_id)
    if is_new:
        payload: JsonObject = {
            "id": str(token.pk),
            "name": token.name,
            "userId": token.user_id,
        }
        outbox.record("mcp_token.revoked", actor=actor, payload=payload)
    return token


def _describe_use(token_id: UUID) -> TokenUse:
    token = McpToken.objects.select_related("user").get(pk=token_id)
    actor = Actor(user=token.user, via="mcp", principal=f"{TOKEN_PREFIX}{token_id}")
    return TokenUse(actor, "mcp", token.name)


def _check_tools(
    names: Collection[str], owner: User, diagnostics: bool, starts_agents: bool
) -> list[str]:
    """Return the names sorted. Raises `RuleViolation` for an unknown tool, or one the account could never call."""
    holder = Principal(id="new", user_id=owner.pk, diagnostics=diagnostics)
    client = Actor(user=owner, via="mcp", diagnoses=diagnostics)
    for name in names:
        tool = get_tool(name)
        if tool is None:
            raise invalid("tools", unknown_tool(name), code="unknown_tool")
        if not starts_agents and is_agent_start(tool):
            raise invalid(
                "tools",
                _("%(tool)s starts an agent, which this token may not. Leave it out, or allow it.")
                % {"tool": name},
            )
        if not may_use(holder, client, tool):
            why = (
                "is a diagnostics tool: grant diagnostics, or leave it out"
                if tool.group == "diagnostics"
                else f"is not for the role {owner.role}: choose another account, or leave it out"
            )
            raise invalid("tools", f"{name} {why}.")
    return sorted(set(names))


def _refuse_diagnostics(diagnostics: bool, scopes: Collection[ContentScope]) -> None:
    if diagnostics and any(scope.is_limited for scope in scopes):
        raise invalid(
            "diagnostics",
            _("Diagnostics show the whole site, so a limited token or account cannot have them."),
            code="whole_site",
        )


_MAX_SECRET_LENGTH: Final = 200
_TOKEN: Final = CompiledQuery(
    lambda secret_hash: McpToken.objects.filter(
        hash=secret_hash, revoked_at__isnull=True, user__is_active=True, user__role=F("role")
    ).values(
        "id",
        "user_id",
        "role",
        "tools",
        "diagnostics",
        "starts_agents",
        "tool_set",
        "content_scope",
        "expires_at",
        "last_used_at",
    )
)


def find_holder(secret: str) -> TokenHolder | None:
    """Return the holder of a token by its secret. Records the use."""
    # Longer secrets cannot match, so they are not even hashed.
    rows = _TOKEN.rows(hash_of(secret)) if len(secret) <= _MAX_SECRET_LENGTH else []
    now = timezone.now()
    if not rows or (rows[0]["expires_at"] is not None and rows[0]["expires_at"] <= now):
        return None
    row = rows[0]
    token_id: UUID = row["id"]
    record_use(McpToken, token_id, row["last_used_at"], lambda: _describe_use(token_id))
    principal = Principal(
        id=f"{TOKEN_PREFIX}{row['id']}",
        user_id=row["user_id"],
        role=row["role"],
        # An empty list means all tools.
        tools=frozenset(row["tools"]) or None,
        diagnostics=row["diagnostics"],
        starts_agents=row["starts_agents"],
        tool_set=row["tool_set"],
        content_scope=ContentScope.from_json(row["content_scope"]),
    )
    return TokenHolder(principal, Account(row["user_id"], row["role"]))


def system_account() -> Account | None:
    """Return the account of the static credential and of callers on this machine."""
    user = system_agent_user(settings.CMS_ENV.mcp_system_user_id)
    return None if user is None else Account(user.pk, user.role)


def still_authorized(holders: Collection[TokenHolder]) -> set[TokenHolder]:
    """Return the holders that would still be accepted unchanged.

    One query for tokens, one for connected clients, one for the system account.
    """
    tokens = {one for one in holders if one.principal.id.startswith(TOKEN_PREFIX)}
    ids = {UUID(one.principal.id.removeprefix(TOKEN_PREFIX)) for one in tokens}
    rows = active_tokens().filter(pk__in=ids).values_list("pk", "content_scope") if ids else []
    limits = {f"{TOKEN_PREFIX}{pk}": ContentScope.from_json(scope) for pk, scope in rows}
    found = {one for one in tokens if limits.get(one.principal.id) == one.principal.content_scope}
    connected = {one for one in holders if one.principal.id.startswith(CONNECTION_PREFIX)}
    found |= still_connected(connected)
    others = set(holders) - tokens - connected
    if others:
        account = system_account()
        found |= {one for one in others if one.account == account}
    return found


def active_tokens() -> QuerySet[McpToken]:
    """Return the tokens that are valid now."""
    is_open = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    return McpToken.objects.filter(is_open, user__is_active=True, user__role=F("role")).order_by()
