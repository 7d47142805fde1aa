"""Second factors that an operator takes away: of somebody who lost phone and recovery codes."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db import transaction

from proofroom.accounts.models import User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject


@transaction.atomic
def remove_second_factors(*, user: User, actor: Actor) -> int:
    """Remove every passkey, app and recovery code of an account. Returns how many. Raises `NotAllowed`."""
    actor.require("users.manage")
    removed: int
    removed, _rows = Authenticator.objects.filter(user=user).delete()
    if removed:
        payload: JsonObject = {"id": user.pk, "type": "all"}
        outbox.record("user.second-factor-removed", actor=actor, payload=payload)
    return removed
