"""Sessions in the log: who came in and went out. Django itself opens and ends them."""

from __future__ import annotations

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject


def record_login(*, actor: Actor) -> None:
    outbox.record("user.logged-in", actor=actor, payload={"id": actor.user.pk})


def record_logout(*, actor: Actor) -> None:
    outbox.record("user.logged-out", actor=actor, payload={"id": actor.user.pk})


def record_own_password(*, actor: Actor) -> None:
    """Somebody gave themselves another password."""
    payload: JsonObject = {
        "id": actor.user.pk,
        "changed": ["password"],
        "role": actor.user.role,
        "active": True,
    }
    outbox.record("user.changed", actor=actor, payload=payload)
