"""Writes accounts: people, and the accounts that agents write under."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts.models import User
from accounts.roles import GRANTS, Role
from core import events
from core.actor import Actor
from core.errors import NotFound, RuleViolation, invalid
from core.json import JsonObject


@transaction.atomic
def ensure_agent_user(*, agent_id: str, email: str = "", username: str = "") -> User:
    """The account that an agent writes under, made when it is missing. Safe to call again.

    It has the role `ai_agent`, a random password that nobody knows, and cannot log in. Raises `RuleViolation` on
    `userAccount.email` or `userAccount.username` where another account has it.
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
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:
        # Another worker made it in between, or the names are somebody else's.
        made = User.objects.filter(agent_id=agent_id).first()
        if made is None:
            raise _taken_from_agent(user) from None
        return made
    return user


def _taken_from_agent(user: User) -> RuleViolation:
    field = "email" if User.objects.filter(email__iexact=user.email).exists() else "username"
    return invalid(
        f"userAccount.{field}",
        f"The agent {user.agent_id} cannot have the {field} {getattr(user, field)!r}: another account has it. "
        f"Give the agent another userAccount.{field}.",
        code=f"{field}_taken",
    )


def agent_user(agent_id: str) -> User | None:
    """The active account of an agent."""
    return User.objects.filter(agent_id=agent_id, is_active=True, role=Role.AI_AGENT).first()


def system_agent_user(user_id: int | None = None) -> User | None:
    """The author of what AI clients make: the user with that id, else the seeded agent user, else the first agent's.

    None where that account is disabled: switching it off must stop AI clients, not pass them to another account.
    """
    if user_id is not None:
        user = User.objects.filter(pk=user_id).first()
    else:
        agents = User.objects.filter(role=Role.AI_AGENT).order_by("pk")
        user = agents.filter(agent_id="general-assistant").first() or agents.first()
    return user if user is not None and user.is_active else None


def is_switched_off(agent_id: str) -> bool:
    """Whether the agent has an account and it may not act: disabled, or no agent's any more."""
    user = User.objects.filter(agent_id=agent_id).first()
    return user is not None and not (user.is_active and user.role == Role.AI_AGENT)


@transaction.atomic
def create_user(*, email: str, username: str, role: str, password: str, actor: Actor) -> User:
    """An account of a person. Raises `NotAllowed`, or `RuleViolation` by field."""
    _allow(actor)
    user = User(email=email.strip().lower(), username=username.strip(), role=_persons_role(role))
    _check(user)
    _use_password(user, password)
    user.save(force_insert=True)
    events.record("user.created", actor=actor, payload={"id": user.pk, "role": user.role})
    return user


@transaction.atomic
def change_user(
    *,
    user_id: int,
    actor: Actor,
    role: str | None = None,
    is_active: bool | None = None,
    username: str | None = None,
    email: str | None = None,
) -> User:
    """Change what is given; None leaves a value. An agent's account can only be switched off and on.

    A changed role, and an account switched off, is logged out everywhere with its next request. Raises
    `NotAllowed`, `NotFound`, or `RuleViolation` by field, also where the site would lose its last admin.
    """
    _allow(actor)
    user, admins = _locked(user_id)
    wanted: dict[str, str | bool | None] = {
        "role": role,
        "is_active": is_active,
        "username": username.strip() if username is not None else None,
        "email": email.strip().lower() if email is not None else None,
    }
    changes = {
        name: value
        for name, value in wanted.items()
        if value is not None and value != getattr(user, name)
    }
    if not changes:
        return user
    _keep_agents(user, changes)
    _keep_an_admin(user, changes, admins, actor)
    for name, value in changes.items():
        setattr(user, name, value)
    _check(user)
    user.save(update_fields=list(changes))
    payload: JsonObject = {
        "id": user.pk,
        "changed": [*sorted(changes)],
        "role": user.role,
        "active": user.is_active,
    }
    events.record("user.changed", actor=actor, payload=payload)
    return user


@transaction.atomic
def set_password(*, user_id: int, password: str, actor: Actor) -> User:
    """Give a person another password, which ends every session of the account. Raises as `change_user` does."""
    _allow(actor)
    user, _ = _locked(user_id)
    if user.role == Role.AI_AGENT:
        raise invalid("password", "An agent's account has no password: it can never log in.")
    _use_password(user, password)
    user.save(update_fields=["password"])
    events.record("user.changed", actor=actor, payload={"id": user.pk, "changed": ["password"]})
    return user


def _allow(actor: Actor) -> None:
    actor.require_person("manage accounts")
    actor.require("users.manage")


def _locked(user_id: int) -> tuple[User, set[int]]:
    """The account, and the ids of the active admins.

    All admins are locked, so that two of them taking each other's role at once cannot leave none.
    """
    admins = User.objects.select_for_update().filter(role=Role.ADMIN, is_active=True)
    ids = {admin.pk for admin in admins.order_by("pk")}
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise NotFound(f"No account has the id {user_id!r}.", code="unknown_user")
    return user, ids


def _persons_role(role: str) -> str:
    known = [known.value for known in GRANTS if known != Role.AI_AGENT]
    if role not in known:
        raise invalid("role", f"{role!r} is no role of a person; known: {', '.join(known)}.")
    return role


def _keep_agents(user: User, changes: Mapping[str, str | bool]) -> None:
    if user.role != Role.AI_AGENT:
        if "role" in changes:
            _persons_role(str(changes["role"]))
        return
    for name in changes:
        if name != "is_active":
            raise invalid(name, "An agent's account can be switched off and on, and nothing else.")


def _keep_an_admin(
    user: User, changes: Mapping[str, str | bool], admins: set[int], actor: Actor
) -> None:
    if changes.get("is_active") is False and user.pk == actor.user.pk:
        raise invalid("is_active", "Nobody can switch off their own account.", code="own_account")
    for name in ("role", "is_active"):
        if name in changes and admins == {user.pk}:
            raise invalid(
                name, "This is the last active admin: make another one first.", code="last_admin"
            )


def _check(user: User) -> None:
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise _refusal(error.message_dict) from None


def _use_password(user: User, password: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise _refusal({"password": error.messages}) from None
    user.set_password(password)


def _refusal(details: dict[str, list[str]]) -> RuleViolation:
    return RuleViolation(
        " ".join(text for texts in details.values() for text in texts), details=details
    )
