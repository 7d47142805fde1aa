"""Accounts for authors of content imported from another installation."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.accounts.services.users import username_for
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid


@transaction.atomic
def ensure_author(*, email: str, actor: Actor) -> User:
    """Return the account with this email, or create one that is disabled and has no password.

    The content keeps its author's name, and an administrator may enable the account. Raises `NotAllowed`, or
    `RuleViolation` on `email`.
    """
    actor.require_person("make accounts")
    actor.require("users.manage")
    address = email.strip().lower()
    found = User.objects.filter(email__iexact=address).first()
    if found is not None:
        return found
    user = User(
        email=address, username=username_for(address), role=Role.TRANSLATOR, is_active=False
    )
    user.set_unusable_password()
    try:
        user.full_clean(exclude=["password"])
    except ValidationError:
        raise invalid(
            "email", _("%(email)r is not a valid email address.") % {"email": email[:100]}
        ) from None
    user.save(force_insert=True)
    user.confirm_email()
    outbox.record("user.created", actor=actor, payload={"id": user.pk, "role": user.role})
    return user
