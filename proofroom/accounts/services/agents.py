"""Services for the accounts that agents write under."""

from __future__ import annotations

from typing import Final

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from proofroom.accounts.models import User
from proofroom.accounts.queries import load_user
from proofroom.accounts.roles import Role
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.agent_directory import is_agent_off
from proofroom.core.database.compiled_queries import CompiledQuery, columns_of, first_instance
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject


@transaction.atomic
def ensure_agent_user(*, agent_id: str, email: str = "", username: str = "") -> User:
    """Return the account of the agent. Create it if it is missing. Idempotent.

    It has the role `ai_agent`, no password, and cannot log in. Raises `RuleViolation` on `userAccount.email` or
    `userAccount.username` if another account has it.
    """
    user = User.objects.filter(agent_id=agent_id).first()
    if user is not None:
        return user
    user = User(
        agent_id=agent_id,
        # The domain `.invalid` never exists (RFC 2606), so no mail can go out.
        email=(email or f"agent.{agent_id}@agents.invalid").lower(),
        username=username or f"agent:{agent_id}",
        role=Role.AI_AGENT,
    )
    user.set_unusable_password()
    try:
        with transaction.atomic():
            # A savepoint, because PostgreSQL would refuse the query below after an error.
            user.save(force_insert=True)
    except IntegrityError:
        # Another process created it meanwhile, or another account has the email or the username.
        existing = User.objects.filter(agent_id=agent_id).first()
        if existing is None:
            raise _taken_from_agent(user) from None
        return existing
    return user


@transaction.atomic
def rename_agent_user(*, agent_id: str, email: str = "", username: str = "") -> None:
    """Set the email and username from the agent's definition. "" leaves a value unchanged.

    Existing content keeps the old name. Raises `RuleViolation` if another account has the value.
    """
    user = User.objects.select_for_update().filter(agent_id=agent_id, role=Role.AI_AGENT).first()
    if user is None:
        return
    wanted = {"email": email.lower() or user.email, "username": username or user.username}
    changed = [name for name, value in wanted.items() if getattr(user, name) != value]
    if not changed:
        return
    for name in changed:
        setattr(user, name, wanted[name])
    try:
        with transaction.atomic():
            # A savepoint, because PostgreSQL refuses all queries of a transaction after an error.
            user.save(update_fields=changed)
    except IntegrityError:
        raise _taken_from_agent(user) from None
    payload: JsonObject = {
        "id": user.pk,
        "changed": [*changed],
        "role": user.role,
        "active": user.is_active,
    }
    system = Actor(user=SYSTEM, via="system")
    outbox.record("user.changed", actor=system, payload=payload)


def _taken_from_agent(user: User) -> RuleViolation:
    others = User.objects.exclude(pk=user.pk)
    field = "email" if others.filter(email__iexact=user.email).exists() else "username"
    return invalid(
        f"userAccount.{field}",
        _(
            "The agent %(agent_id)s cannot use the %(field)s %(value)r, because "
            "another account has it. Set another userAccount.%(field)s."
        )
        % {"agent_id": user.agent_id, "field": field, "value": getattr(user, field)},
        code=f"{field}_taken",
    )


_AGENT: Final = CompiledQuery(
    lambda role, agent_id: User.objects.filter(role=role, agent_id=agent_id).values(
        *columns_of(User)
    )
)


def agent_user(agent_id: str) -> User | None:
    """Return the active account of an agent, or None."""
    return User.objects.filter(agent_id=agent_id, is_active=True, role=Role.AI_AGENT).first()


def system_agent_user(user_id: int | None = None) -> User | None:
    """Return the author of what AI clients write: the given user, the seeded agent user, or the first agent.

    Return None if that account is disabled.
    """
    if user_id is not None:
        user = load_user(user_id)
    else:
        # Runs for every call of an AI client, so the query is compiled.
        user = first_instance(User, _AGENT.rows(Role.AI_AGENT.value, "general-assistant"))
        user = user or User.objects.filter(role=Role.AI_AGENT).order_by("pk").first()
    # Switching the account off must stop AI clients, not pass them to another account.
    return user if user is not None and user.is_active else None


def is_switched_off(agent_id: str) -> bool:
    """Return True if the agent is off, or its account is disabled or no longer an agent's."""
    user = User.objects.filter(agent_id=agent_id).first()
    if user is not None and not (user.is_active and user.role == Role.AI_AGENT):
        return True
    return is_agent_off(agent_id)
