"""Checks that the users of open pages are still let in: by the database, never by what was true at the start."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, get_user_model
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from proofroom.core.actor import ActorUser


@dataclass(frozen=True, slots=True)
class Ticket:
    """The ticket of a page: a session, and what that was bound to."""

    user_id: int
    session_key: str
    bound_to: str
    permission: str


def ticket_of(scope: dict[str, Any], permission: str) -> Ticket | None:
    """The ticket of a connection through `AuthMiddlewareStack`; None for who may not come in."""
    user, session = scope["user"], scope["session"]
    if not (user.is_authenticated and user.is_staff and user.has_perm(permission)):
        return None
    return Ticket(user.pk, session.session_key, session[HASH_SESSION_KEY], permission)


def still_authorized(tickets: Collection[Ticket]) -> dict[Ticket, ActorUser]:
    """Return whose tickets still hold: the session stands, and the account has what it had. Two queries."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    keys = store.get_model_class()._default_manager.filter(
        session_key__in={ticket.session_key for ticket in tickets}, expire_date__gt=timezone.now()
    )
    standing = set(keys.values_list("session_key", flat=True))
    people = get_user_model()._default_manager.in_bulk({ticket.user_id for ticket in tickets})
    return {
        ticket: people[ticket.user_id]
        for ticket in tickets
        if ticket.session_key in standing and _is_let_in(people.get(ticket.user_id), ticket)
    }


def _is_let_in(user: Any, ticket: Ticket) -> bool:
    return (
        user is not None
        and user.is_staff
        and user.has_perm(ticket.permission)
        and constant_time_compare(ticket.bound_to, user.get_session_auth_hash())
    )
