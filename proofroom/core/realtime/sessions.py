"""Authorisation of websockets: at the connection and while it is open."""

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
from proofroom.core.second_factor import lacks_second_factor


@dataclass(frozen=True, slots=True)
class PageConnection:
    """The rights of a websocket: its session, the session's auth hash, and the required permission."""

    user_id: int
    session_key: str
    session_hash: str
    permission: str


def authorize(scope: dict[str, Any], permission: str) -> PageConnection | None:
    """Return the connection of an `AuthMiddlewareStack` scope; None if it is not authorised."""
    user, session = scope["user"], scope["session"]
    if not (user.is_authenticated and user.is_staff and user.has_perm(permission)):
        return None
    if lacks_second_factor(user, session):
        return None
    return PageConnection(user.pk, session.session_key, session[HASH_SESSION_KEY], permission)


def still_authorized(connections: Collection[PageConnection]) -> dict[PageConnection, ActorUser]:
    """Return the users of connections whose session and permission are still valid.

    Runs two queries, and one more if a user has a custom role.
    """
    store = import_module(settings.SESSION_ENGINE).SessionStore
    keys = store.get_model_class()._default_manager.filter(
        session_key__in={one.session_key for one in connections}, expire_date__gt=timezone.now()
    )
    valid = set(keys.values_list("session_key", flat=True))
    model: Any = get_user_model()
    users = model._default_manager.in_bulk({one.user_id for one in connections})
    model.preload_roles(users.values())
    authorized: dict[PageConnection, ActorUser] = {}
    for one in connections:
        user: Any = users.get(one.user_id)
        if (
            one.session_key in valid
            and user is not None
            and user.is_staff
            and user.has_perm(one.permission)
            # The hash changes with the password, which ends all sessions.
            and constant_time_compare(one.session_hash, user.get_session_auth_hash())
        ):
            authorized[one] = user
    return authorized
