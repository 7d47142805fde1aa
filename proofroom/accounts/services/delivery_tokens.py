"""Services for delivery tokens: they belong to no account, and only raise the rate of the delivery API."""

from __future__ import annotations

import logging
import re
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import Error, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.models import DeliveryToken
from proofroom.accounts.services import account_tokens
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid

logger = logging.getLogger(__name__)
DELIVERY_TOKEN_PREFIX: Final = "cmsd_"  # noqa: S105  # not a secret: the public beginning of every token
_RATE: Final = re.compile(r"[1-9][0-9]{0,6}/(second|minute|hour|day)", re.ASCII)
_LAST_USE_EVERY: Final = timedelta(minutes=1)


@transaction.atomic
def create_delivery_token(
    *, name: str, actor: Actor, expires_at: datetime | None = None, rate: str = ""
) -> tuple[DeliveryToken, str]:
    """Create a delivery token. Return it with its secret, which is not stored.

    An empty `rate` is that of the setting. Raises `NotAllowed`, or `RuleViolation` by field.
    """
    account_tokens.allow(actor)
    name = account_tokens.check_token(name, expires_at)
    if rate and not _RATE.fullmatch(rate):
        raise invalid(
            "rate",
            _("rate must be a number of calls and a period, such as 6000/minute."),
        )
    token, secret = account_tokens.make(
        DeliveryToken,
        DELIVERY_TOKEN_PREFIX,
        name=name,
        expires_at=expires_at,
        actor=actor,
        rate=rate,
    )
    outbox.record(
        "token.created",
        actor=actor,
        payload={"id": str(token.pk), "name": token.name, "kind": "delivery", "rate": rate},
    )
    return token, secret


@transaction.atomic
def revoke_delivery_token(*, token_id: UUID, actor: Actor) -> DeliveryToken:
    """Revoke a delivery token. Idempotent. Raises `NotAllowed` or `NotFound`."""
    account_tokens.allow(actor)
    token, is_new = account_tokens.revoke(DeliveryToken, token_id)
    if is_new:
        outbox.record(
            "token.revoked",
            actor=actor,
            payload={"id": str(token.pk), "name": token.name, "kind": "delivery"},
        )
    return token


def note_use(token_id: UUID, last_used_at: datetime | None) -> None:
    """Store that the token is used, at most once a minute. `last_used_at`: the value the caller has read.

    No event: a token of a frontend is used all the time, and nobody acts with it.
    """
    now = timezone.now()
    if last_used_at is not None and now - last_used_at < _LAST_USE_EVERY:
        return
    is_due = Q(last_used_at=None) | Q(last_used_at__lt=now - _LAST_USE_EVERY)
    try:
        with transaction.atomic():
            DeliveryToken.objects.filter(is_due, pk=token_id).update(last_used_at=now)
    except Error as error:
        # The database is busy, read-only after a failover, or gone. The call must not fail because of this, and the
        # next one records it.
        logger.warning("The use of a token was not recorded: %s", error)
