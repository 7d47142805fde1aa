"""Whose credential is in use now, and whether it still opens anything: asked of the database."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from accounts.services import system_agent_user
from accounts.services.account_tokens import hash_of
from core.statements import Row, Statement
from mcp_bridge.access.credentials import CLIENT, Principal
from mcp_bridge.models import McpToken
from mcp_bridge.services.tokens import note_use

_LONGEST: Final = 200
_TOKEN: Final = Statement(
    lambda secret_hash: McpToken.objects.filter(
        hash=secret_hash, revoked_at__isnull=True, user__is_active=True, user__role=F("role")
    ).values("id", "user_id", "role", "tools", "diagnostics", "expires_at", "last_used_at")
)


@dataclass(frozen=True, slots=True)
class Account:
    """Who stands behind a credential. With another role it is another."""

    id: int
    role: str


@dataclass(frozen=True, slots=True)
class Holder:
    """A credential that was let in, and who stood behind it then."""

    principal: Principal
    account: Account


def client_holder(secret: str) -> Holder | None:
    """Who comes with the secret of a token that was made in the admin. Notes the use."""
    rows = _TOKEN.rows(hash_of(secret)) if len(secret) <= _LONGEST else []
    if not rows or _is_over(rows[0]):
        return None
    row = rows[0]
    note_use(token_id=row["id"], last_used_at=row["last_used_at"])
    principal = Principal(
        id=f"{CLIENT}{row['id']}",
        user_id=row["user_id"],
        role=row["role"],
        tools=frozenset(row["tools"]) or None,
        diagnostics=row["diagnostics"],
    )
    return Holder(principal, Account(row["user_id"], row["role"]))


def system_account() -> Account | None:
    """Who stands behind the static credential and the callers of this machine."""
    user = system_agent_user(settings.CMS_ENV.mcp_system_user_id)
    return None if user is None else Account(user.pk, user.role)


def standing(holders: Collection[Holder]) -> set[Holder]:
    """Those who would still be let in as they were. One query for all tokens, and one for the system's account."""
    tokens = {one for one in holders if one.principal.id.startswith(CLIENT)}
    ids = {UUID(one.principal.id.removeprefix(CLIENT)) for one in tokens}
    valid = {f"{CLIENT}{pk}" for pk in active_tokens(ids)} if ids else set()
    found = {one for one in tokens if one.principal.id in valid}
    others = set(holders) - tokens
    if others:
        account = system_account()
        found |= {one for one in others if one.account == account}
    return found


def active_tokens(ids: Collection[UUID] | None = None) -> set[UUID]:
    """The ids of the tokens that open something now."""
    is_open = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    rows = McpToken.objects.filter(is_open, user__is_active=True, user__role=F("role"))
    if ids is not None:
        rows = rows.filter(pk__in=ids)
    return set(rows.order_by().values_list("pk", flat=True))


def _is_over(row: Row) -> bool:
    return row["expires_at"] is not None and row["expires_at"] <= timezone.now()
