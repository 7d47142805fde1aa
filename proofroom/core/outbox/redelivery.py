"""Telling again of what was given up, because a person says so."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from proofroom.core.actor import Actor
from proofroom.core.outbox.dispatch import given_up
from proofroom.core.outbox.record import record, wake


@transaction.atomic
def tell_again(*, event_ids: Iterable[int], actor: Actor) -> int:
    """Have those of these events that were given up told again, to whoever did not take them. Answers how many."""
    actor.require("settings.manage")
    actor.require_person("have events told again")
    rows = given_up().select_for_update(no_key=True).filter(pk__in=list(event_ids))
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    if not ids:
        return 0
    given_up().filter(pk__in=ids).update(attempts=0, next_at=None)
    record("events.told-again", actor=actor, payload={"events": [*ids]})
    wake(ids)
    return len(ids)
