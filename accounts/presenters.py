"""Accounts, roles and tokens as the API answers them. No secret is ever part of it."""

from __future__ import annotations

from accounts.models import AccountToken, ApiToken, User
from accounts.roles import Role, permissions_of
from core.json import JsonObject


def user(of: User) -> JsonObject:
    """An account."""
    return {
        "id": of.pk,
        "email": of.email,
        "username": of.username,
        "role": of.role,
        "active": of.is_active,
        "agentId": of.agent_id or None,
        "createdAt": of.created_at,  # type: ignore[dict-item]  # the renderer writes times
        "lastLoginAt": of.last_login,  # type: ignore[dict-item]
    }


def role(of: Role) -> JsonObject:
    """A role with what it may do."""
    return {
        "role": of.value,
        "permissions": [*sorted(permissions_of(of))],
        "canLogIn": of != Role.AI_AGENT,
    }


def token(of: ApiToken) -> JsonObject:
    """A token, by its last four characters."""
    return {**account_token(of), "permissions": [*of.permissions]}


def account_token(of: AccountToken) -> JsonObject:
    """What every kind of token answers."""
    maker = of.made_by
    return {
        "id": str(of.pk),
        "name": of.name,
        "hint": of.hint,
        "state": of.state,
        "userId": of.user_id,
        "username": of.user.username,
        "createdAt": of.created_at,  # type: ignore[dict-item]
        "createdBy": {"id": maker.pk, "username": maker.username} if maker else None,
        "expiresAt": of.expires_at,  # type: ignore[dict-item]
        "lastUsedAt": of.last_used_at,  # type: ignore[dict-item]
        "revokedAt": of.revoked_at,  # type: ignore[dict-item]
    }
