"""Services that write the accounts of people."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from proofroom.accounts.models import NOT_IN_USERNAMES, USERNAME_MAX, User, role_label
from proofroom.accounts.roles import Role
from proofroom.accounts.services import account_tokens
from proofroom.accounts.services.role_grants import (
    lock_given_role,
    lock_role,
    lock_site_role,
    require_permissions_of_role,
)
from proofroom.accounts.user_fields import PASSWORD_MAX
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject

_Change = str | bool


@transaction.atomic
def create_user(*, email: str, username: str, role: str, password: str, actor: Actor) -> User:
    """Create the account of a person. Raises `NotAllowed`, or `RuleViolation` by field."""
    require_account_manager(actor)
    lock_given_role(role, actor)
    user = make_user(email=email, username=username, role=role, password=password)
    outbox.record("user.created", actor=actor, payload={"id": user.pk, "role": user.role})
    return user


def make_user(*, email: str, username: str, role: str, password: str | None) -> User:
    """Store the account of a person. With `password` None, they can log in only through the provider.

    The caller checks permissions and records the event. Raises `RuleViolation` by field.
    """
    user = User(email=email.strip().lower(), username=username.strip(), role=lock_role(role))
    _check(user)
    if password is None:
        user.set_unusable_password()
    else:
        _set_password(user, password)
    _save(user)
    user.confirm_email()
    return user


def username_for(address: str, name: str = "") -> str:
    """Return a username for a new account: from the name, else from the first part of the address.

    Characters that usernames cannot have are replaced; if the result is empty or taken, return the
    whole address.
    """
    wanted = NOT_IN_USERNAMES.sub("-", name or address.split("@")[0]).strip("-")[:USERNAME_MAX]
    if not wanted or User.objects.filter(username=wanted).exists():
        return address[:USERNAME_MAX]
    return wanted


@transaction.atomic
def change_user(
    *,
    user_id: int,
    actor: Actor,
    role: str | None = None,
    is_active: bool | None = None,
    username: str | None = None,
    email: str | None = None,
    password: str | None = None,
) -> User:
    """Change the given values; None leaves a value unchanged. Agents' accounts can only be switched off and on.

    Another role, or switching the account off, ends its sessions and revokes its tokens permanently; another password
    ends its sessions. Raises `NotAllowed`, `NotFound`, or `RuleViolation` by field, also if the site would lose its
    last admin.
    """
    require_account_manager(actor)
    wanted = {
        "role": role,
        "is_active": is_active,
        "username": username.strip() if username is not None else None,
        "email": email.strip().lower() if email is not None else None,
    }
    return apply_changes(user_id=user_id, wanted=wanted, password=password, actor=actor)


@transaction.atomic
def apply_changes(
    *,
    user_id: int,
    wanted: Mapping[str, _Change | None],
    actor: Actor,
    password: str | None = None,
    is_giver_asked: bool = True,
) -> User:
    """Store the changes of `change_user`, and raise as it does. The caller checks permissions.

    `is_giver_asked`: False if the role comes from an identity provider, not from a person.
    """
    if wanted.get("role"):
        lock_site_role(
            str(wanted["role"])
        )  # before the account: the services of roles lock in this order
    user, admins = lock_with_admins(user_id)
    changes = {
        name: value
        for name, value in wanted.items()
        if value is not None and value != getattr(user, name)
    }
    _refuse_for_agent(user, changes, password)
    if user.erased_at is not None and (changes or password is not None):
        raise RuleViolation(
            _("The data of this person was erased. The account can never be used again."),
            code="erased_account",
        )
    if is_giver_asked and user.role != Role.AI_AGENT and (changes or password is not None):
        require_permissions_of_role(actor, user.role)
        if "role" in changes:
            lock_given_role(str(changes["role"]), actor)
    _require_admin_left(user, changes, admins, actor)
    role_before = user.role
    for name, value in changes.items():
        setattr(user, name, value)
    changed = [*changes]
    if changes:
        _check(user)
    if password is not None:
        _set_password(user, password)
        changed.append("password")
    if changed:
        # Increase the epoch and revoke tokens, so that a later change back does not revive old sessions and tokens.
        if "role" in changes or "is_active" in changes:
            user.session_epoch += 1
            account_tokens.revoke_all_tokens([user.pk])
        _save(user, [*changed, "session_epoch"])
        if "email" in changes:
            user.confirm_email()
        payload: JsonObject = {
            "id": user.pk,
            "changed": [*sorted(changed)],
            "role": user.role,
            "active": user.is_active,
        }
        if "role" in changes:
            payload |= {"roleBefore": role_before, "roleLabel": role_label(user.role)}
        outbox.record("user.changed", actor=actor, payload=payload)
    return user


def set_password(*, user_id: int, password: str, actor: Actor) -> User:
    """Set a new password, which ends all sessions of the account. Raises as `change_user` does."""
    return change_user(user_id=user_id, password=password, actor=actor)


def require_account_manager(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor may manage accounts. Programs may not, with any token."""
    actor.require_person("manage accounts")
    actor.require("users.manage")
    actor.require_session("manage accounts")


def lock_with_admins(user_id: int) -> tuple[User, set[int]]:
    """Return the account, locked, and the ids of the active admins."""
    # Lock all admins: two admins who demote each other at the same time must not leave the site without any.
    admins = User.objects.select_for_update().filter(role=Role.ADMIN, is_active=True)
    ids = {admin.pk for admin in admins.order_by("pk")}
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise NotFound(
            _("No account has the ID %(user_id)r.") % {"user_id": user_id}, code="unknown_user"
        )
    return user, ids


def _refuse_for_agent(user: User, changes: Mapping[str, _Change], password: str | None) -> None:
    if user.role != Role.AI_AGENT:
        if "role" in changes:
            lock_role(str(changes["role"]))
        return
    if password is not None:
        raise invalid(
            "password", _("The account of an agent has no password and can never log in.")
        )
    for name in changes:
        if name != "is_active":
            raise invalid(name, _("The account of an agent can only be turned on or off."))


def _require_admin_left(
    user: User, changes: Mapping[str, _Change], admins: set[int], actor: Actor
) -> None:
    if changes.get("is_active") is False and user.pk == actor.user.pk:
        raise invalid("is_active", _("You cannot turn off your own account."), code="own_account")
    for name in ("role", "is_active"):
        if name in changes and admins == {user.pk}:
            raise invalid(
                name,
                _("This is the last active administrator. Create another one first."),
                code="last_admin",
            )


def _check(user: User) -> None:
    # Names of agents come from their definitions and may hold a colon, which people's usernames may not.
    unchecked = ["username", "email"] if user.agent_id else []
    try:
        user.full_clean(exclude=["password", *unchecked])
    except ValidationError as error:
        raise _refusal(error.message_dict) from None


def _save(user: User, names: list[str] | None = None) -> None:
    """Save the account. Raise `RuleViolation` if another account took the username or the email since the check."""
    try:
        with transaction.atomic():
            # A savepoint, because PostgreSQL would refuse the query below after an error.
            user.save(force_insert=names is None, update_fields=names)
    except IntegrityError:
        others = User.objects.exclude(pk=user.pk)
        field = "email" if others.filter(email__iexact=user.email).exists() else "username"
        raise invalid(
            field,
            _("Another account already uses this %(field)s.") % {"field": field},
            code=f"{field}_taken",
        ) from None


def _set_password(user: User, password: str) -> None:
    try:
        if len(password) > PASSWORD_MAX:
            most = f"{PASSWORD_MAX:,}"
            raise ValidationError(
                _("A password can have at most %(most)s characters.") % {"most": most}
            )
        validate_password(password, user)
    except ValidationError as error:
        raise _refusal({"password": error.messages}) from None
    user.set_password(password)


def _refusal(details: dict[str, list[str]]) -> RuleViolation:
    return RuleViolation(
        " ".join(text for texts in details.values() for text in texts), details=details
    )
