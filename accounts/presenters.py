"""Accounts and roles as the API answers them. No secret is ever part of it."""

from __future__ import annotations

from accounts.models import User
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
