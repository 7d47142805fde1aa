"""The queue of deliveries: adding, finding due ones, ordering, and claims that keep two processes apart.

Only the process that holds the lock sends, so that order and channels are managed in one place.
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
from proofroom.core.database.compiled_queries import (
    CompiledQuery,
    CompiledQueryForEach,
    Row,
    Update,
    instance_from_row,
    related_from_row,
)
from proofroom.core.models import Event
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.webhooks.models import Attempt, Delivery, DeliveryStatus, SenderLease, Webhook

# Longer than a full channel takes if every call times out: 24 deliveries, 8 at a time, 15 seconds each.
CLAIM_DURATION: Final = timedelta(seconds=60)
"""Time after which a claimed delivery is due again, because its process must have ended."""
UNKNOWN_OUTCOME: Final = "The sender ended before it knew what became of this call."
MAX_CHANNELS: Final = 200
"""Channels processed at the same time."""


def due_deliveries(now: datetime) -> QuerySet[Delivery]:
    """Return the deliveries due now. A disabled webhook's deliveries are held, except tests."""
    is_sent = Q(webhook__isnull=True) | Q(webhook__is_active=True) | Q(event_name="webhook.test")
    return Delivery.objects.filter(is_sent, next_attempt_at__lte=now)


def claimable_deliveries(now: datetime) -> QuerySet[Delivery]:
    """Return the due deliveries that need not wait: the earliest unfinished one of each post and channel."""
    earlier = Delivery.objects.filter(
        lane=OuterRef("lane"),
        post_id=OuterRef("post_id"),
        event_id__lt=OuterRef("event_id"),
        next_attempt_at__isnull=False,
    )
    # Only deliveries about the same post must arrive in order.
    return due_deliveries(now).filter(Q(post_id__isnull=True) | ~Exists(earlier))


def find_blocking_delivery(delivery: Delivery) -> Delivery | None:
    """Return the earliest delivery of the same post and channel that must finish first, or None."""
    # A finished delivery waits for nothing, and one without a post has no order.
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
    """Return channels with something to send."""
    found: list[str] = []
    # The second query leaves out channels in which all deliveries wait for an earlier one, but costs more. It is only
    # needed if the first one reaches the limit, because such channels could displace others.
    for channels in (_DUE_CHANNELS, _CLAIMABLE_CHANNELS):
        # The empty name matches no channel. Without it, Django would skip the query for an empty list.
        found = [row["lane"] for row in channels.rows(timezone.now(), ["", *exclude])]
        if len(found) < MAX_CHANNELS:
            break
    return found


def _channels(deliveries: QuerySet[Delivery], exclude: Sequence[str]) -> QuerySet[Any, Any]:
    rows = deliveries.exclude(lane__in=exclude).order_by("lane")
    return rows.values("lane").distinct()[:MAX_CHANNELS]


_DUE_CHANNELS: Final = CompiledQuery(lambda now, exclude: _channels(due_deliveries(now), exclude))
_CLAIMABLE_CHANNELS: Final = CompiledQuery(
    lambda now, exclude: _channels(claimable_deliveries(now), exclude)
)
_CLAIMABLE_IDS: Final = CompiledQuery(lambda now: claimable_deliveries(now).values("id")[:1])


def is_due() -> bool:
    """Return True if something can be sent now."""
    return bool(_CLAIMABLE_IDS.rows(timezone.now()))


def _mark_claimed(
    ids: Sequence[UUID], until: datetime
) -> tuple[QuerySet[Delivery], dict[str, object]]:
    new = {"claimed_until": until, "next_attempt_at": until, "attempts": F("attempts") + 1}
    return Delivery.objects.filter(pk__in=ids), {"status": DeliveryStatus.SENDING, **new}


_MARK_CLAIMED: Final = Update(_mark_claimed)


@cache
def _claimable_of_channels(capacity: int) -> CompiledQueryForEach:
    return CompiledQueryForEach(
        lambda now, channel: (
            claimable_deliveries(now)
            .filter(lane=channel)
            .select_related("event", "webhook")
            # `skip_locked`: a row locked by another process, such as a replay, must not block the other channels.
            .select_for_update(of=("self",), skip_locked=True, no_key=True)
            .order_by("next_attempt_at", "event_id")[:capacity]
        )
    )


def _delivery_from_row(row: Row) -> Delivery:
    """Return the delivery of a row, with its event and webhook."""
    delivery = instance_from_row(Delivery, row)
    if event := related_from_row(Event, row, "event"):
        delivery.event = event
    delivery.webhook = related_from_row(Webhook, row, "webhook")
    return delivery


@transaction.atomic
def claim_deliveries(capacities: Mapping[str, int]) -> dict[str, list[Delivery]]:
    """Claim deliveries of each channel, up to its capacity. Each belongs to the caller until its `claimed_until`."""
    # One statement serves all channels with the same capacity.
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
    # Each statement is sorted, but there can be several.
    claimed.sort(key=lambda row: (row.next_attempt_at or now, row.event_id))
    found: dict[str, list[Delivery]] = {}
    for row in claimed:
        found.setdefault(row.lane, []).append(row)
    # A call without a known outcome is recorded as an attempt, too.
    unfinished = [row for row in claimed if row.status == DeliveryStatus.SENDING]
    numbers = next_attempt_numbers([row.pk for row in unfinished])
    Attempt.objects.bulk_create(
        Attempt(
            delivery=row,
            number=numbers[row.pk],
            at=(row.claimed_until or timezone.now()) - CLAIM_DURATION,
            ms=0,
            status_code=None,
            error=UNKNOWN_OUTCOME,
        )
        for row in unfinished
    )
    until = timezone.now() + CLAIM_DURATION
    _MARK_CLAIMED.execute([row.pk for row in claimed], until)
    for row in claimed:
        row.attempts += 1
        row.claimed_until = row.next_attempt_at = until
    return found


def next_attempt_numbers(delivery_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the number of each delivery's next attempt, replays included. The caller has locked the deliveries."""
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
    """Return an unsaved delivery."""
    return Delivery(
        lane=channel,
        webhook=webhook,
        workflow_id=workflow_id,
        event=event,
        event_name=outbox.public_name_of(event.name),
        post_id=event.post_id,
        next_attempt_at=at or timezone.now(),
    )


def queue_all(deliveries: Sequence[Delivery], *, none_sends: bool = False) -> None:
    """Store new deliveries, and wake the sender after the commit."""
    if deliveries:
        outbox.insert_with_deliveries(deliveries)
        wake_sender(none_sends=none_sends)


def wake_sender(*, none_sends: bool = False) -> None:
    """Start the sender after the commit. A running sender looks again after it releases its lock.

    `none_sends`: the caller found no running sender, so the check is not repeated.
    """
    # The check runs after the commit, because a sender that runs now may end before it sees this commit. A second
    # sender does no harm.
    send_after_commit(queue_sender if none_sends else start_sender, "deliveries", once=True)


def start_sender() -> None:
    if not is_locked():
        queue_sender()


def queue_sender() -> None:
    queue_task("webhooks.tasks.send_deliveries")


# Several times the interval of renewals, so that a slow transaction does not lose the lock.
LOCK_SECONDS: Final = 15
MAX_AHEAD: Final = timedelta(minutes=5)
"""Largest time until a lock may end. A later end means that the clock was set back, and the lock counts as free."""


def _acquire(
    now: datetime, latest: datetime, holder: UUID, until: datetime
) -> tuple[QuerySet[SenderLease], dict[str, object]]:
    free = Q(holder__isnull=True) | Q(until__isnull=True) | Q(until__lt=now) | Q(until__gt=latest)
    return SenderLease.objects.filter(free, pk=1), {"holder": holder, "until": until}


_ACQUIRE: Final = Update(_acquire)
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
_LOCKED: Final = CompiledQuery(lambda now, latest: held_leases(now, latest).values("pk"))


def held_leases(now: datetime, latest: datetime) -> QuerySet[SenderLease]:
    """Return the lease if a process is sending. `latest` is `MAX_AHEAD` from now."""
    return SenderLease.objects.filter(pk=1, holder__isnull=False, until__range=(now, latest))


def acquire_lock(holder: UUID) -> bool:
    """Take the lock if it is free. Return True if the holder has it. Never waits."""
    now = timezone.now()
    until = now + timedelta(seconds=LOCK_SECONDS)
    if _ACQUIRE.execute(now, now + MAX_AHEAD, holder, until):
        return True
    # The single row does not exist before the first sender.
    _, is_new = SenderLease.objects.get_or_create(pk=1, defaults={"holder": holder, "until": until})
    return is_new


def renew_lock(holder: UUID) -> bool:
    """Extend the lock. Return False if another process has taken it."""
    return bool(_RENEW.execute(holder, timezone.now() + timedelta(seconds=LOCK_SECONDS)))


def release_lock(holder: UUID) -> None:
    _RELEASE.execute(holder)


def release_lock_if_done(holder: UUID) -> bool:
    """Release the lock if nothing can be sent. Return True if it was released."""
    # One statement, so that no delivery can arrive between the check and the release.
    return bool(_RELEASE_IF_DONE.execute(holder, timezone.now()))


def is_locked() -> bool:
    now = timezone.now()
    return bool(_LOCKED.rows(now, now + MAX_AHEAD))
