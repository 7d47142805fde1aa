"""Services shared by all kinds of tokens: create, limit, use and revoke."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

from django.db import Error, transaction
from django.db.models import Model, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.models import TOKEN_NAME_MAX, AccountToken, ProgramToken, User
from proofroom.accounts.roles import Role
from proofroom.accounts.services.content_scopes import check_scope
from proofroom.accounts.services.role_grants import require_permissions_of_role
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import reject_unstorable

logger = logging.getLogger(__name__)
_LAST_USE_EVERY: Final = timedelta(minutes=1)

P = TypeVar("P", bound=ProgramToken)
T = TypeVar("T", bound=AccountToken)


def hash_of(secret: str) -> str:
    """Return the SHA-256 hash of a token's secret, as stored."""
    # A secret holds 256 random bits, so it cannot be guessed from a fast hash, and requests need no slow one.
    # Bytes of a header that are not UTF-8 arrive as surrogates.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def allow(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor may manage tokens. Programs may not, with any token."""
    actor.require_person("manage tokens")
    actor.require("tokens.manage")
    actor.require_session("manage tokens")


def lock_owner(user_id: int, *, may_be_agent: bool = False) -> User:
    """Return the account, locked so that its role cannot change while it gets a token. Raises `RuleViolation`."""
    owner = User.objects.select_for_update().filter(pk=user_id).first()
    is_wrong_kind = owner is not None and owner.role == Role.AI_AGENT and not may_be_agent
    if owner is None or is_wrong_kind or not owner.is_active:
        sentence = (
            _("No active account has the ID %(user_id)s.")
            if may_be_agent
            else _("No active account of a person has the ID %(user_id)s.")
        )
        raise invalid("user_id", sentence % {"user_id": user_id})
    return owner


def check_token(name: str, expires_at: datetime | None) -> str:
    """Return the normalized name. Raises `RuleViolation` by field."""
    reject_unstorable(name, "name")
    name = name.strip()
    if not name or len(name) > TOKEN_NAME_MAX:
        raise invalid(
            "name",
            _("Give the token a name of at most %(longest_name)s characters.")
            % {"longest_name": TOKEN_NAME_MAX},
        )
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("expires_at", _("The expiry must be in the future."))
    return name


def make(
    kind: type[P],
    prefix: str,
    *,
    name: str,
    expires_at: datetime | None,
    actor: Actor,
    **rest: Any,
) -> tuple[P, str]:
    """Create a token of the kind. Return it with its secret, which is not stored."""
    secret = prefix + secrets.token_urlsafe(32)
    token = kind(
        name=name,
        hash=hash_of(secret),
        hint=secret[-4:],
        made_by_id=actor.user.pk,
        expires_at=expires_at,
        **rest,
    )
    token.save(force_insert=True)
    return token, secret


def lock_token(kind: type[P], token_id: UUID) -> P:
    """Return the token, locked, with its account if it has one. Raises `NotFound`."""
    # `of`: only the token's row. With `select_related`, the account would be locked too.
    found = kind._default_manager.select_for_update(of=("self",))
    if issubclass(kind, AccountToken):
        found = found.select_related("user")
    token = found.filter(pk=token_id).first()
    if token is None:
        raise NotFound(
            _("No token has the ID %(token_id)s.") % {"token_id": token_id}, code="unknown_token"
        )
    return token


def limit(
    kind: type[T],
    token_id: UUID,
    scope: ContentScope,
    actor: Actor,
    *,
    check: Callable[[T], None],
    event: str,
) -> T:
    """Limit a token to a part of the content. `check` raises if it has a permission that cannot be limited.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` by part.
    """
    allow(actor)
    token = lock_token(kind, token_id)
    require_permissions_of_role(actor, token.user.role)
    check(token)
    token.content_scope = check_scope(scope, actor).to_json()
    token.save(update_fields=["content_scope"])
    payload: JsonObject = {
        "id": str(token.pk),
        "name": token.name,
        "userId": token.user_id,
        "scope": token.content_scope,
    }
    outbox.record(event, actor=actor, payload=payload)
    return token


def revoke(kind: type[P], token_id: UUID) -> tuple[P, bool]:
    """Revoke the token. Return it, and True if it was not revoked before. Raises `NotFound`."""
    token = lock_token(kind, token_id)
    if token.revoked_at is not None:
        return token, False
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    return token, True


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The use of a token or a connected client: the actor, the kind of access, and the token's name."""

    actor: Actor
    kind: Literal["api", "mcp", "oauth"]
    name: str


def record_use(
    kind: type[Model],
    token_id: UUID,
    last_used_at: datetime | None,
    describe: Callable[[], TokenUse],
) -> None:
    """Record that the token is used, at most once a minute.

    The first use of a day (UTC) is also recorded as an event. `describe` is called only for that event.
    `last_used_at`: the value the caller has read.
    """
    now = timezone.now()
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    is_first = last_used_at is None or last_used_at < today
    if not is_first and last_used_at is not None and now - last_used_at < _LAST_USE_EVERY:
        return
    before = today if is_first else now - _LAST_USE_EVERY
    is_due = Q(last_used_at=None) | Q(last_used_at__lt=before)
    try:
        with transaction.atomic():
            # The condition decides between concurrent calls: only the one that changes the row records the event.
            rows = kind._default_manager.filter(is_due, pk=token_id).update(last_used_at=now)
            if rows and is_first:
                _record_first_use(token_id, describe(), today)
    except Error as error:
        # The database is busy, read-only after a failover, or gone. The call must not fail because of this, and the
        # next one records it.
        logger.warning("The use of a token was not recorded: %s", error)


def _record_first_use(token_id: UUID, use: TokenUse, day: datetime) -> None:
    payload: JsonObject = {
        "id": str(token_id),
        "kind": use.kind,
        "name": use.name,
        "userId": use.actor.user.pk,
        "day": day.date().isoformat(),
    }
    outbox.record("token.used", actor=use.actor, payload=payload)


def revoke_all_tokens(user_ids: Collection[int]) -> None:
    """Revoke all tokens of these accounts, of every kind. They stay revoked if the account is turned on again."""
    now = timezone.now()
    for kind in AccountToken.__subclasses__():
        rows = kind._default_manager.filter(revoked_at=None, **{"user__in": user_ids})
        rows.update(revoked_at=now)
