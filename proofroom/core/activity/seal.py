"""Adds committed events to the chain, in order of id; one that commits late comes later in the chain."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from proofroom.core.activity.digests import BEFORE_FIRST, facts_of, link_of, payload_of
from proofroom.core.models import Event, Seal

SEAL_BATCH_SIZE: Final = 1_000


def seal_events() -> int:
    """Seal what waits. Answers how many events; where another process seals at the same time, it goes on instead."""
    total = 0
    while unsealed_events().exists():
        count = _seal_batch()
        total += count
        if count < SEAL_BATCH_SIZE:
            break
    return total


def unsealed_events() -> QuerySet[Event]:
    """Events that the chain does not have yet."""
    linked = Exists(Seal.objects.filter(event_id=OuterRef("pk")))
    return Event.objects.filter(~linked, is_sealed=False)


def oldest_unsealed_at() -> datetime | None:
    """Return when the event was recorded that waits longest to be sealed."""
    return unsealed_events().order_by("id").values_list("created_at", flat=True).first()


def drop_salts(event_ids: list[int]) -> None:
    """Without its salt the digest of a payload tells nothing of the words that were in it."""
    Seal.objects.filter(event_id__in=event_ids).update(salt="")


def _seal_batch() -> int:
    try:
        with transaction.atomic():
            # One sealer at a time. The first link has nothing before it to wait at: there its number decides.
            Seal.objects.select_for_update().order_by("-seq").first()
            last = Seal.objects.order_by("-seq").first()
            # An event that is being told or forgotten comes with the next batch.
            waiting = unsealed_events().select_for_update(
                skip_locked=True, of=("self",), no_key=True
            )
            batch = list(waiting.order_by("id")[:SEAL_BATCH_SIZE])
            Seal.objects.bulk_create(_links(batch, last))
            Event.objects.filter(pk__in=[event.pk for event in batch]).update(is_sealed=True)
    except IntegrityError:
        return 0
    return len(batch)


def _links(batch: Iterable[Event], last: Seal | None) -> list[Seal]:
    seq, before = (last.seq, last.hash) if last is not None else (0, BEFORE_FIRST)
    now = timezone.now()
    links = []
    for event in batch:
        seq += 1
        salt = secrets.token_hex(16)
        facts, payload = facts_of(event), payload_of(event, salt)
        seal = Seal(
            seq=seq,
            event_id=event.pk,
            facts=facts,
            payload=payload,
            salt=salt,
            before=before,
            hash=link_of(seq, before, facts, payload),
            made_at=now,
        )
        links.append(seal)
        before = seal.hash
    return links
