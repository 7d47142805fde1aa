"""Services for a user's admin preferences."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from proofroom.accounts.models import PUBLIC_NAME_MAX, Preferences, User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import clean_line


@transaction.atomic
def change_preferences(
    *,
    actor: Actor,
    time_zone: str | None = None,
    language: str | None = None,
    theme: str | None = None,
    density: str | None = None,
    has_letter_keys: bool | None = None,
    is_named_publicly: bool | None = None,
    public_name: str | None = None,
) -> Preferences:
    """Change the given preferences of the actor; None leaves a value unchanged.

    Raises `NotAllowed` for programs, and `RuleViolation` by field.
    """
    actor.require_session("change their preferences")
    # Lock the account, because the row of its preferences may not exist yet: concurrent first changes must wait.
    user = User.objects.select_for_update().get(pk=actor.user.pk)
    preferences = Preferences.objects.filter(user=user).first() or Preferences(user=user)
    wanted = {
        "time_zone": time_zone,
        "language": language,
        "theme": theme,
        "density": density,
        "has_letter_keys": has_letter_keys,
        "is_named_publicly": is_named_publicly,
        "public_name": None
        if public_name is None
        else clean_line("public_name", public_name, PUBLIC_NAME_MAX),
    }
    changes = {
        name: value
        for name, value in wanted.items()
        if value is not None and value != getattr(preferences, name)
    }
    if not changes:
        return preferences
    for name, value in changes.items():
        setattr(preferences, name, value)
    try:
        preferences.full_clean(exclude=["user"])
    except ValidationError as error:
        raise RuleViolation(" ".join(error.messages), details=error.message_dict) from None
    preferences.save()
    payload: JsonObject = {
        "id": user.pk,
        "changed": [*sorted(changes)],
        "role": user.role,
        "active": user.is_active,
    }
    outbox.record("user.changed", actor=actor, payload=payload)
    return preferences
