"""Sessions: what the activity log tells of them, and the end of those that somebody no longer wants."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.db import transaction

from proofroom.accounts.models import User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject


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


def list_sessions(user: User) -> list[UserSession]:
    """The open sessions of an account, newest first."""
    found: list[UserSession] = UserSession.objects.purge_and_list(user)
    return sorted(found, key=lambda session: session.created_at, reverse=True)


@transaction.atomic
def end_sessions(*, actor: Actor, keep: str, session_id: int | None = None) -> int:
    """End one of the actor's sessions, or all but the one with the key `keep`. Returns how many ended."""
    actor.require_session("end sessions")
    found = UserSession.objects.filter(user_id=actor.user.pk).exclude(session_key=keep)
    if session_id is not None:
        found = found.filter(pk=session_id)
    ended = 0
    for session in found:
        session.end()
        ended += 1
    if ended:
        payload: JsonObject = {"id": actor.user.pk, "ended": ended}
        outbox.record("user.logged-out", actor=actor, payload=payload)
    return ended
