"""Writes what a person chose for their own admin."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from proofroom.accounts.models import Preferences, User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject


@transaction.atomic
def change_preferences(
    *,
    actor: Actor,
    time_zone: str | None = None,
    language: str | None = None,
    theme: str | None = None,
    density: str | None = None,
    has_letter_keys: bool | None = None,
) -> Preferences:
    """Change what is given of the actor's own preferences; None leaves a value.

    Raises `NotAllowed` for programs, and `RuleViolation` by field.
    """
    actor.require_session("change their preferences")
    # The first change makes the row: two at once wait for each other.
    user = User.objects.select_for_update().get(pk=actor.user.pk)
    preferences = Preferences.objects.filter(user=user).first() or Preferences(user=user)
    wanted = {
        "time_zone": time_zone,
        "language": language,
        "theme": theme,
        "density": density,
        "has_letter_keys": has_letter_keys,
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
