"""Writes API tokens: made, revoked, and when they were last used."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.roles import Role, permissions_of
from core import events
from core.actor import Actor
from core.errors import NotFound, invalid
from core.json import JsonObject

PREFIX: Final = "cms_"
_LAST_USE_EVERY: Final = timedelta(minutes=1)


def hash_of(secret: str) -> str:
    """What is stored of a token. It holds 256 random bits, so a fast hash tells nothing."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


@transaction.atomic
def create_token(
    *,
    name: str,
    permissions: Collection[str],
    actor: Actor,
    expires_at: datetime | None = None,
    user_id: int | None = None,
) -> tuple[ApiToken, str]:
    """A token of the actor, or of the person with that id, and its secret, which nobody can read again.

    Raises `NotAllowed`, or `RuleViolation` by field: a token has no right that its account does not have.
    """
    _allow(actor)
    name = name.strip()
    if not name or len(name) > 100:
        raise invalid("name", "A token needs a name of at most 100 characters.")
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("expires_at", "The end of a token must be in the future.")
    owner = _owner(actor.user.pk if user_id is None else user_id)
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        name=name,
        hash=hash_of(secret),
        hint=secret[-4:],
        user=owner,
        role=owner.role,
        permissions=_narrowed(permissions, owner),
        made_by_id=actor.user.pk,
        expires_at=expires_at,
    )
    payload: JsonObject = {
        "id": str(token.pk),
        "userId": owner.pk,
        "permissions": [*token.permissions],
    }
    events.record("token.created", actor=actor, payload=payload)
    return token, secret


@transaction.atomic
def revoke_token(*, token_id: UUID, actor: Actor) -> ApiToken:
    """End a token at once. Safe to call again. Raises `NotAllowed` or `NotFound`."""
    _allow(actor)
    found = ApiToken.objects.select_for_update(of=("self",)).select_related("user")
    token = found.filter(pk=token_id).first()
    if token is None:
        raise NotFound(f"No token has the id {token_id}.", code="unknown_token")
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        payload: JsonObject = {"id": str(token.pk), "userId": token.user_id}
        events.record("token.revoked", actor=actor, payload=payload)
    return token


def note_use(*, token_id: UUID, last_used_at: datetime | None) -> None:
    """Write down that the token is used, at most once a minute, and rather not than failing the call."""
    now = timezone.now()
    if last_used_at is not None and now - last_used_at < _LAST_USE_EVERY:
        return
    is_due = Q(last_used_at=None) | Q(last_used_at__lt=now - _LAST_USE_EVERY)
    try:
        with transaction.atomic():
            ApiToken.objects.filter(is_due, pk=token_id).update(last_used_at=now)
    except OperationalError:  # the database is busy writing; the next call notes it
        return


def _allow(actor: Actor) -> None:
    actor.require_person("manage tokens")
    actor.require("tokens.manage")
    actor.require_session("manage tokens")


def _owner(user_id: int) -> User:
    """The account, locked, so that it cannot lose its role while it gets a token."""
    owner = User.objects.select_for_update().filter(pk=user_id).first()
    if owner is None or owner.role == Role.AI_AGENT or not owner.is_active:
        raise invalid("user_id", f"No active account of a person has the id {user_id}.")
    return owner


def _narrowed(permissions: Collection[str], owner: User) -> list[str]:
    if not permissions:
        raise invalid("permissions", "A token needs at least one permission.")
    own = permissions_of(owner.role)
    wider = sorted(set(permissions) - own)
    if wider:
        named = ", ".join(repr(name[:80]) for name in wider[:5])
        raise invalid(
            "permissions",
            f"{owner.username} does not have {named}; known: {', '.join(sorted(own))}.",
        )
    return sorted(set(permissions))
