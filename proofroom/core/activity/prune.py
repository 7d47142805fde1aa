"""Takes old entries from the beginning of the chain; what is left begins at a later link, and an event says so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final

from django.db import transaction
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.activity.verify import PRUNED
from proofroom.core.actor import Actor, Visitor
from proofroom.core.json import JsonObject
from proofroom.core.models import Event, Seal

PRUNE_BATCH_SIZE: Final = 5_000


def prune(*, days: int) -> int:
    """Delete sealed entries of more than that many days ago. Answers how many; 0 days keep everything."""
    if days <= 0:
        return 0
    before = timezone.now() - timedelta(days=days)
    total = 0
    while count := _prune_batch(before):
        total += count
    return total


@transaction.atomic
def _prune_batch(before: datetime) -> int:
    """The newest link always stays: the next one follows it."""
    newest = Seal.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    oldest = (
        Seal.objects.select_for_update().filter(seq__lt=newest).order_by("seq")[:PRUNE_BATCH_SIZE]
    )
    links = list(oldest)
    # The entries that are there; None for one that somebody else holds, who may wait for its link.
    ids = [seal.event_id for seal in links]
    found: dict[int, Event | None] = dict.fromkeys(
        Event.objects.filter(pk__in=ids).values_list("pk", flat=True)
    )
    free = Event.objects.select_for_update(skip_locked=True, no_key=True).filter(pk__in=ids)
    entries = found | {event.pk: event for event in free}
    old = list(takewhile(lambda seal: _is_over(seal, entries, before), links))
    if not old:
        return 0
    Event.objects.filter(pk__in=[seal.event_id for seal in old]).delete()
    Seal.objects.filter(seq__gte=old[0].seq, seq__lte=old[-1].seq).delete()
    payload: JsonObject = {
        "from": old[0].seq,
        "to": old[-1].seq,
        "hash": old[-1].hash,
        "before": before.isoformat(),
    }
    system = Actor(user=Visitor(username="system", role="system"), via="system")
    outbox.record(PRUNED, actor=system, payload=payload)
    return len(old)


def _is_over(seal: Seal, entries: Mapping[int, Event | None], before: datetime) -> bool:
    """Return whether the entry is old, and nobody still has to be told of it."""
    if seal.event_id not in entries:
        # Somebody deleted it, which is to be found for as long as the link would have stayed.
        return seal.made_at < before
    event = entries[seal.event_id]
    if event is None:
        return False
    is_told = event.dispatched_at is not None or event.attempts >= outbox.MAX_ATTEMPTS
    return is_told and event.created_at < before
