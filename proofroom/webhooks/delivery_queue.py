"""The queue of deliveries: new ones, which are due, in which order, and claims that keep two processes off the same.

One process sends at a time, while it holds the lock, so that order and channels are kept in one place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.database.statements import (
    Row,
    Statement,
    StatementForEach,
    Update,
    instance_from_row,
    related_from_row,
)
from proofroom.core.models import Event
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.webhooks.models import Attempt, Delivery, DeliveryStatus, SenderLease, Webhook

CLAIM_DURATION: Final = timedelta(seconds=60)
"""After which a delivery is due again, because the process that claimed it must have ended."""
UNKNOWN_OUTCOME: Final = "The sender ended before it knew what became of this call."
MAX_CHANNELS: Final = 200
"""Channels that are looked at together."""


def due_deliveries(now: datetime) -> QuerySet[Delivery]:
    """Return what is to be sent by now. A webhook that is off has its deliveries held, except tests."""
    is_sent = Q(webhook__isnull=True) | Q(webhook__is_active=True) | Q(event_name="webhook.test")
    return Delivery.objects.filter(is_sent, next_attempt_at__lte=now)


def claimable_deliveries(now: datetime) -> QuerySet[Delivery]:
    """Return the due deliveries that wait for no other: the earliest unfinished one of each post and channel."""
    earlier = Delivery.objects.filter(
        lane=OuterRef("lane"),
        post_id=OuterRef("post_id"),
        event_id__lt=OuterRef("event_id"),
        next_attempt_at__isnull=False,
    )
    return due_deliveries(now).filter(Q(post_id__isnull=True) | ~Exists(earlier))


def find_blocking_delivery(delivery: Delivery) -> Delivery | None:
    """Return the earliest delivery of the same post and channel that has to be finished first."""
    if delivery.next_attempt_at is None or delivery.post_id is None:
        return None
    earlier = Delivery.objects.filter(
        lane=delivery.lane,
        post_id=delivery.post_id,
        event_id__lt=delivery.event_id,
        next_attempt_at__isnull=False,
    )
    return earlier.order_by("event_id").first()


def find_due_channels(exclude: Iterable[str] = ()) -> list[str]:
    """Return the channels that have something to send."""
    found: list[str] = []
    # Leaving out channels in which all waits for something earlier costs more, but they must not crowd out others.
    for channels in (_DUE_CHANNELS, _CLAIMABLE_CHANNELS):
        # No channel is called "": a list of none would ask for nothing.
        found = [row["lane"] for row in channels.rows(timezone.now(), ["", *exclude])]
        if len(found) < MAX_CHANNELS:
            break
    return found


def _channels(deliveries: QuerySet[Delivery], exclude: Sequence[str]) -> QuerySet[Any, Any]:
    rows = deliveries.exclude(lane__in=exclude).order_by("lane")
    return rows.values("lane").distinct()[:MAX_CHANNELS]


_DUE_CHANNELS: Final = Statement(lambda now, exclude: _channels(due_deliveries(now), exclude))
_CLAIMABLE_CHANNELS: Final = Statement(
    lambda now, exclude: _channels(claimable_deliveries(now), exclude)
)
_CLAIMABLE: Final = Statement(lambda now: claimable_deliveries(now).values("id")[:1])


def is_due() -> bool:
    """Return whether something could be sent now."""
    return bool(_CLAIMABLE.rows(timezone.now()))


def _note_claim(
    ids: Sequence[UUID], until: datetime
) -> tuple[QuerySet[Delivery], dict[str, object]]:
    new = {"claimed_until": until, "next_attempt_at": until, "attempts": F("attempts") + 1}
    return Delivery.objects.filter(pk__in=ids), {"status": DeliveryStatus.SENDING, **new}


_NOTE_CLAIM: Final = Update(_note_claim)


@cache
def _claimable_of_channels(capacity: int) -> StatementForEach:
    return StatementForEach(
        lambda now, channel: (
            claimable_deliveries(now)
            .filter(lane=channel)
            .select_related("event", "webhook")
            .select_for_update(of=("self",), skip_locked=True, no_key=True)
            .order_by("next_attempt_at", "event_id")[:capacity]
        )
    )


def _delivery_from_row(row: Row) -> Delivery:
    """The delivery with its event and its webhook."""
    delivery = instance_from_row(Delivery, row)
    if event := related_from_row(Event, row, "event"):
        delivery.event = event
    delivery.webhook = related_from_row(Webhook, row, "webhook")
    return delivery


@transaction.atomic
def claim_deliveries(capacities: Mapping[str, int]) -> dict[str, list[Delivery]]:
    """Claim up to so many deliveries of each channel. Each is the caller's until its `claimed_until`."""
    by_capacity: dict[int, list[str]] = defaultdict(list)
    for channel, capacity in capacities.items():
        by_capacity[capacity].append(channel)
    now = timezone.now()
    claimed = [
        _delivery_from_row(row)
        for capacity, channels in by_capacity.items()
        for row in _claimable_of_channels(capacity).rows(now, of=channels)
    ]
    if not claimed:
        return {}
    claimed.sort(key=lambda row: (row.next_attempt_at or now, row.event_id))
    found: dict[str, list[Delivery]] = {}
    for row in claimed:
        found.setdefault(row.lane, []).append(row)
    # A call of which nothing is known is listed as an attempt, too.
    lost = [row for row in claimed if row.status == DeliveryStatus.SENDING]
    numbers = next_attempt_numbers([row.pk for row in lost])
    Attempt.objects.bulk_create(
        Attempt(
            delivery=row,
            number=numbers[row.pk],
            at=(row.claimed_until or timezone.now()) - CLAIM_DURATION,
            ms=0,
            status_code=None,
            error=UNKNOWN_OUTCOME,
        )
        for row in lost
    )
    until = timezone.now() + CLAIM_DURATION
    _NOTE_CLAIM.execute([row.pk for row in claimed], until)
    for row in claimed:
        row.attempts += 1
        row.claimed_until = row.next_attempt_at = until
    return found


def next_attempt_numbers(delivery_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the number of the next attempt of each delivery, replays counted. The caller has locked them."""
    if not delivery_ids:
        return {}
    last = (
        Attempt.objects.filter(delivery__in=delivery_ids)
        .order_by()
        .values_list("delivery")
        .annotate(last=Max("number"))
    )
    return dict.fromkeys(delivery_ids, 1) | {id_: number + 1 for id_, number in last}


def new_delivery(
    event: Event,
    channel: str,
    *,
    webhook: Webhook | None = None,
    workflow_id: str = "",
    at: datetime | None = None,
) -> Delivery:
    """Make the row, not stored yet."""
    return Delivery(
        lane=channel,
        webhook=webhook,
        workflow_id=workflow_id,
        event=event,
        event_name=event.name,
        post_id=event.post_id,
        next_attempt_at=at or timezone.now(),
    )


def queue_all(deliveries: Sequence[Delivery], *, none_sends: bool = False) -> None:
    """Store those that are new to their channel, and wake the sender after the commit."""
    if deliveries:
        outbox.insert_along(deliveries)
        wake_sender(none_sends=none_sends)


def wake_sender(*, none_sends: bool = False) -> None:
    """Start the sender after the commit. One that is at work looks again after it released its lock.

    With `none_sends` the caller found no sender at work, so that nobody asks again: one that began since does no
    harm, while one that was at work may have ended without seeing what is committed now.
    """
    send_after_commit(queue_sender if none_sends else start_sender, "deliveries", once=True)


def start_sender() -> None:
    if not is_locked():
        queue_sender()


def queue_sender() -> None:
    queue_task("webhooks.tasks.send_deliveries")


LOCK_SECONDS: Final = 15
MAX_AHEAD: Final = timedelta(minutes=5)
"""A lock that ends later than this was taken before the clock was set back, and counts as free."""


def _take(
    now: datetime, latest: datetime, holder: UUID, until: datetime
) -> tuple[QuerySet[SenderLease], dict[str, object]]:
    free = Q(holder__isnull=True) | Q(until__isnull=True) | Q(until__lt=now) | Q(until__gt=latest)
    return SenderLease.objects.filter(free, pk=1), {"holder": holder, "until": until}


_TAKE: Final = Update(_take)
_RENEW: Final = Update(
    lambda holder, until: (SenderLease.objects.filter(pk=1, holder=holder), {"until": until})
)
_RELEASE: Final = Update(
    lambda holder: (
        SenderLease.objects.filter(pk=1, holder=holder),
        {"holder": None, "until": None},
    )
)
_RELEASE_IF_DONE: Final = Update(
    lambda holder, now: (
        SenderLease.objects.filter(~Exists(claimable_deliveries(now)), pk=1, holder=holder),
        {"holder": None, "until": None},
    )
)
_LOCKED: Final = Statement(lambda now, latest: held_leases(now, latest).values("pk"))


def held_leases(now: datetime, latest: datetime) -> QuerySet[SenderLease]:
    """Return the lease, if a process sends. `latest` is `MAX_AHEAD` from now."""
    return SenderLease.objects.filter(pk=1, holder__isnull=False, until__range=(now, latest))


def acquire_lock(holder: UUID) -> bool:
    """Take the lock if it is free. Returns whether the holder has it; never waits."""
    now = timezone.now()
    until = now + timedelta(seconds=LOCK_SECONDS)
    if _TAKE.execute(now, now + MAX_AHEAD, holder, until):
        return True
    _, is_new = SenderLease.objects.get_or_create(pk=1, defaults={"holder": holder, "until": until})
    return is_new


def renew_lock(holder: UUID) -> bool:
    """Extend the lock. Returns False if another process has it by now."""
    return bool(_RENEW.execute(holder, timezone.now() + timedelta(seconds=LOCK_SECONDS)))


def release_lock(holder: UUID) -> None:
    _RELEASE.execute(holder)


def release_lock_if_done(holder: UUID) -> bool:
    """Release the lock if nothing is left to send. Returns whether that was so."""
    return bool(_RELEASE_IF_DONE.execute(holder, timezone.now()))


def is_locked() -> bool:
    now = timezone.now()
    return bool(_LOCKED.rows(now, now + MAX_AHEAD))
