"""Sessions in the log: who came in and went out. Django itself opens and ends them."""

from __future__ import annotations

from core import events
from core.actor import Actor
from core.json import JsonObject


def record_login(*, actor: Actor) -> None:
    events.record("user.logged-in", actor=actor, payload={"id": actor.user.pk})


def record_logout(*, actor: Actor) -> None:
    events.record("user.logged-out", actor=actor, payload={"id": actor.user.pk})


def record_own_password(*, actor: Actor) -> None:
    """Somebody gave themselves another password."""
    payload: JsonObject = {
        "id": actor.user.pk,
        "changed": ["password"],
        "role": actor.user.role,
        "active": True,
    }
    events.record("user.changed", actor=actor, payload=payload)
