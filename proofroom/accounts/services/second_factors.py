"""Services that remove an account's second factors, for people who lost their phone and recovery codes."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db import transaction

from proofroom.accounts.models import User
from proofroom.accounts.services.role_grants import require_permissions_of_role
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject


def list_second_factors(user: User) -> list[str]:
    """Return the types of an account's second factors, sorted, without duplicates. One query."""
    types = Authenticator.objects.filter(user=user).values_list("type", flat=True)
    return sorted(set(types))


@transaction.atomic
def remove_second_factors(*, user: User, actor: Actor) -> int:
    """Remove all passkeys, authenticator apps and recovery codes of an account. Return their number.

    Raises `NotAllowed`, also for accounts with more permissions than the actor.
    """
    actor.require_person("remove login methods")
    actor.require("users.manage")
    require_permissions_of_role(actor, user.role)
    removed: int
    removed, _rows = Authenticator.objects.filter(user=user).delete()
    if removed:
        payload: JsonObject = {"id": user.pk, "type": "all", "did": "all"}
        outbox.record("user.second-factor-removed", actor=actor, payload=payload)
    return removed
