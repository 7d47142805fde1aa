"""Writes the tokens that AI clients open the MCP server with."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils.module_loading import autodiscover_modules

from accounts.models import User
from accounts.services import account_tokens
from core import events
from core.actor import Actor
from core.errors import invalid
from core.json import JsonObject
from core.tools import get_tool
from core.tools.calling import unknown_tool
from mcp_bridge.access.credentials import Principal, may_use
from mcp_bridge.models import McpToken

PREFIX: Final = "cmsmcp_"


@transaction.atomic
def create_token(
    *,
    name: str,
    user_id: int,
    actor: Actor,
    tools: Collection[str] = (),
    diagnostics: bool = False,
    expires_at: datetime | None = None,
) -> tuple[McpToken, str]:
    """A token that is bound to the account, and its secret, which nobody can read again.

    Without `tools` it may call all that the account may use. Raises `NotAllowed`, or `RuleViolation` by field.
    """
    account_tokens.allow(actor)
    name = account_tokens.check_token(name, expires_at)
    owner = account_tokens.locked_owner(user_id, may_be_agent=True)
    token, secret = account_tokens.make(
        McpToken,
        PREFIX,
        name=name,
        owner=owner,
        expires_at=expires_at,
        actor=actor,
        tools=_usable(tools, owner, diagnostics),
        diagnostics=diagnostics,
    )
    payload: JsonObject = {
        "id": str(token.pk),
        "userId": owner.pk,
        "tools": [*token.tools],
        "diagnostics": diagnostics,
    }
    events.record("mcp_token.created", actor=actor, payload=payload)
    return token, secret


@transaction.atomic
def revoke_token(*, token_id: UUID, actor: Actor) -> McpToken:
    """End a token, and what is open with it within seconds. Safe to call again. Raises `NotAllowed` or `NotFound`."""
    account_tokens.allow(actor)
    token, is_new = account_tokens.revoke(McpToken, token_id)
    if is_new:
        payload: JsonObject = {"id": str(token.pk), "userId": token.user_id}
        events.record("mcp_token.revoked", actor=actor, payload=payload)
    return token


def note_use(*, token_id: UUID, last_used_at: datetime | None) -> None:
    """Write down that the token is used, at most once a minute, and rather not than failing the call."""
    account_tokens.note_use(McpToken, token_id, last_used_at)


def _usable(names: Collection[str], owner: User, diagnostics: bool) -> list[str]:
    """The names in order. Raises `RuleViolation` for one that is no tool, or that the account could never call."""
    autodiscover_modules("tools")
    holder = Principal(id="new", user_id=owner.pk, diagnostics=diagnostics)
    client = Actor(user=owner, via="mcp")
    for name in names:
        tool = get_tool(name)
        if tool is None:
            raise invalid("tools", unknown_tool(name), code="unknown_tool")
        if not may_use(holder, client, tool):
            why = (
                "is a diagnostics tool: grant diagnostics, or leave it out"
                if tool.group == "diagnostics"
                else f"is not for the role {owner.role}: choose another account, or leave it out"
            )
            raise invalid("tools", f"{name} {why}.")
    return sorted(set(names))
