"""Which deliveries are sent next, and that nobody else sends them meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from webhooks.models import Attempt, Delivery, DeliveryStatus
from webhooks.numbering import next_numbers
from webhooks.outcomes import most_attempts

CLAIM: Final = timedelta(seconds=60)
"""After which a delivery is due again, because whoever took it must have ended."""
CUT_OFF: Final = "The sender ended before it knew what became of this call."
_LONGEST_LIST: Final = 200


def due() -> QuerySet[Delivery]:
    """What is to be sent now. A webhook that is off has its deliveries held, but for tests."""
    is_sent = Q(webhook__isnull=True) | Q(webhook__is_active=True) | Q(event_name="webhook.test")
    return Delivery.objects.filter(is_sent, next_attempt_at__lte=timezone.now())


def claimable() -> QuerySet[Delivery]:
    """What waits for no other: of each post in a lane the earliest that is not finished."""
    earlier = Delivery.objects.filter(
        lane=OuterRef("lane"),
        post_id=OuterRef("post_id"),
        event_id__lt=OuterRef("event_id"),
        next_attempt_at__isnull=False,
    )
    return due().filter(Q(post_id__isnull=True) | ~Exists(earlier))


def waits_for(delivery: Delivery) -> Delivery | None:
    """The earliest of the same post to the same receiver that has to be finished before it."""
    if delivery.next_attempt_at is None or delivery.post_id is None:
        return None
    earlier = Delivery.objects.filter(
        lane=delivery.lane,
        post_id=delivery.post_id,
        event_id__lt=delivery.event_id,
        next_attempt_at__isnull=False,
    )
    return earlier.order_by("event_id").first()


def lanes_due(but: Iterable[str] = ()) -> list[str]:
    """Lanes with something to send, other than those."""
    found = _lanes_of(due(), but)
    # It costs more to leave out lanes in which all waits for something earlier, but they must not crowd out others.
    return found if len(found) < _LONGEST_LIST else _lanes_of(claimable(), but)


def _lanes_of(deliveries: QuerySet[Delivery], but: Iterable[str]) -> list[str]:
    rows = deliveries.exclude(lane__in=list(but)).order_by("lane").values_list("lane", flat=True)
    return list(rows.distinct()[:_LONGEST_LIST])


@transaction.atomic
def claim(room: Mapping[str, int]) -> dict[str, list[Delivery]]:
    """Take up to so many deliveries of each lane. Each is this caller's until its `claimed_until`."""
    found = {lane: list(_first(lane, number)) for lane, number in room.items()}
    taken = [row for rows in found.values() for row in rows]
    if not taken:
        return {}
    _note_cut_off([row for row in taken if row.status == DeliveryStatus.SENDING])
    until = timezone.now() + CLAIM
    Delivery.objects.filter(pk__in=[row.pk for row in taken]).update(
        status=DeliveryStatus.SENDING,
        claimed_until=until,
        next_attempt_at=until,
        attempts=F("attempts") + 1,
    )
    for row in taken:
        row.attempts += 1
        row.claimed_until = row.next_attempt_at = until
    return {lane: rows for lane, rows in found.items() if rows}


def was_cut_off_too_often(delivery: Delivery) -> bool:
    """Whether nothing was ever learnt of it: perhaps it is what ends the sender."""
    return delivery.status == DeliveryStatus.SENDING and delivery.attempts > most_attempts() + 1


def _first(lane: str, number: int) -> QuerySet[Delivery]:
    return (
        claimable()
        .filter(lane=lane)
        .select_related("event", "webhook")
        .select_for_update(of=("self",), skip_locked=True, no_key=True)
        .order_by("next_attempt_at", "event_id")[:number]
    )


def _note_cut_off(rows: list[Delivery]) -> None:
    """An attempt of which nothing is known stays in the list, as one."""
    numbers = next_numbers([row.pk for row in rows])
    Attempt.objects.bulk_create(
        Attempt(
            delivery=row,
            number=numbers[row.pk],
            at=(row.claimed_until or timezone.now()) - CLAIM,
            ms=0,
            status_code=None,
            error=CUT_OFF,
        )
        for row in rows
    )
