"""Services that end sessions and record logouts."""

from __future__ import annotations

from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.models import User
from proofroom.accounts.services.role_grants import require_permissions_of_role
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject


def record_logout(*, actor: Actor) -> None:
    outbox.record("user.logged-out", actor=actor, payload={"id": actor.user.pk})


def record_password_change(*, actor: Actor) -> None:
    """Record that the actor changed their own password."""
    payload: JsonObject = {
        "id": actor.user.pk,
        "changed": ["password"],
        "role": actor.user.role,
        "active": True,
    }
    outbox.record("user.changed", actor=actor, payload=payload)


def list_sessions(user: User) -> list[UserSession]:
    """Return the open sessions of an account, newest first."""
    # allauth does not remove rows of expired sessions by itself; this does.
    found: list[UserSession] = UserSession.objects.purge_and_list(user)
    return sorted(found, key=lambda session: session.created_at, reverse=True)


@transaction.atomic
def end_sessions(*, actor: Actor, keep: str, session_id: int | None = None) -> int:
    """End one of the actor's sessions, or all except the one with the key `keep`. Return how many ended."""
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


@transaction.atomic
def end_account_sessions(*, user_id: int, actor: Actor) -> None:
    """End all sessions of another account, in the admin and the API. Tokens stay valid.

    Raises `NotFound`, `NotAllowed`, also for accounts with more permissions than the actor.
    """
    actor.require_session("end sessions")
    actor.require("users.manage")
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise NotFound(_("Account not found."))
    require_permissions_of_role(actor, user.role)
    # Sessions are bound to the epoch, so this ends also sessions that have no `UserSession` row.
    user.session_epoch += 1
    user.save(update_fields=["session_epoch"])
    for session in UserSession.objects.filter(user=user):
        session.end()
    payload: JsonObject = {"id": user.pk, "did": "all"}
    outbox.record("user.logged-out", actor=actor, payload=payload)


def clear_expired_sessions() -> int:
    """Delete expired sessions with their addresses and browsers. Return the number of sessions. Idempotent."""
    count = Session.objects.filter(expire_date__lt=timezone.now()).delete()[0]
    is_open = Exists(Session.objects.filter(session_key=OuterRef("session_key")))
    # A session in the making has its row a moment before it is stored.
    old = UserSession.objects.filter(~is_open, created_at__lt=timezone.now() - timedelta(days=1))
    old.delete()
    return count
