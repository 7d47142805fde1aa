"""Sessions of open pages: who may open a websocket, and who may keep it open."""

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
    """A websocket as far as its rights go: its session, the hash that this was bound to, and what it needs."""

    user_id: int
    session_key: str
    session_hash: str
    permission: str


def authorize(scope: dict[str, Any], permission: str) -> PageConnection | None:
    """The connection of a scope through `AuthMiddlewareStack`; None for who may not come in."""
    user, session = scope["user"], scope["session"]
    if not (user.is_authenticated and user.is_staff and user.has_perm(permission)):
        return None
    if lacks_second_factor(user, session):
        return None
    return PageConnection(user.pk, session.session_key, session[HASH_SESSION_KEY], permission)


def still_authorized(connections: Collection[PageConnection]) -> dict[PageConnection, ActorUser]:
    """Return the users of connections whose session and permission are still valid.

    Two queries, and one where somebody has a role that the site made.
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
            and constant_time_compare(one.session_hash, user.get_session_auth_hash())
        ):
            authorized[one] = user
    return authorized
