"""Writes accounts: people, and the accounts that agents write under."""

from __future__ import annotations

import secrets

from django.db import transaction

from accounts.models import User
from accounts.roles import Role


@transaction.atomic
def ensure_agent_user(*, agent_id: str, email: str = "", username: str = "") -> User:
    """The account that an agent writes under, made when it is missing. Safe to call again.

    It has the role `ai_agent`, a random password that nobody knows, and cannot log in.
    """
    user = User.objects.filter(agent_id=agent_id).first()
    if user is not None:
        return user
    user = User(
        agent_id=agent_id,
        email=(email or f"agent.{agent_id}@agents.invalid").lower(),
        username=username or f"agent+{agent_id}",
        role=Role.AI_AGENT,
    )
    user.set_password(secrets.token_urlsafe(48))
    user.save()
    return user


def agent_user(agent_id: str) -> User | None:
    """The active account of an agent."""
    return User.objects.filter(agent_id=agent_id, is_active=True, role=Role.AI_AGENT).first()


def system_agent_user(user_id: int | None = None) -> User | None:
    """The author of what AI clients make: the user with that id, else the seeded agent user, else any agent's."""
    if user_id is not None:
        return User.objects.filter(pk=user_id, is_active=True).first()
    agents = User.objects.filter(role=Role.AI_AGENT, is_active=True).order_by("pk")
    return agents.filter(agent_id="general-assistant").first() or agents.first()
