"""Telling subscribers of events, from tasks: of the events of one post in their order."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from proofroom.core.models import Event
from proofroom.core.outbox.dispatch import BATCH, tell
from proofroom.core.outbox.retry_schedule import MAX_ATTEMPTS, due, open_events

_LOOK: Final = 500
"""Events that a sweep looks for at once."""


def dispatch(event_id: int) -> bool:
    """Tell every subscriber of the event, and before it of what its post has waiting.

    Answers whether all of them took it; a failing one is told again later, and until then of no later event of
    that post.
    """
    return dispatch_all([event_id])


def dispatch_all(event_ids: Iterable[int]) -> bool:
    """Tell every subscriber of these events, like `dispatch`."""
    wanted = Event.objects.filter(open_events(), pk__in=list(event_ids))
    found = list(wanted.order_by("id").values_list("id", "post_id"))
    for which in _parts(found):
        # What came after them is told on the way, which saves its own transaction.
        while tell(which) >= BATCH:
            pass
    ids = [id_ for id_, _ in found]
    return not Event.objects.filter(pk__in=ids, dispatched_at__isnull=True).exists()


def sweep(seconds: float) -> int:
    """Tell of what lost messages, and subscribers that failed, left waiting, for so long at most.

    Answers how many events it took up, oldest first: each is done then, or waits for its next time.
    """
    until = time.monotonic() + seconds
    count = 0
    while found := list(_waiting()[:_LOOK]):
        before = count
        for which in _parts(found):
            if time.monotonic() >= until:
                return count
            count += tell(which)
        if count == before:
            break  # the database gives way to others; so does the sweep
    return count


def waiting(limit: int = _LOOK) -> list[int]:
    """Ids of events whose turn it is, oldest first, leaving out what failed too often."""
    return [id_ for id_, _ in _waiting()[:limit]]


def given_up() -> QuerySet[Event]:
    """Events that failed too often, of which nobody is told any more until a person says so."""
    return Event.objects.filter(dispatched_at__isnull=True, attempts__gte=MAX_ATTEMPTS)


def _waiting() -> QuerySet[Event, tuple[int, UUID | None]]:
    return Event.objects.filter(due(timezone.now())).order_by("id").values_list("id", "post_id")


def _parts(found: Sequence[tuple[int, UUID | None]]) -> Iterator[Q]:
    """What one transaction takes each: events without a post, and whole posts, whose earlier ones come first."""
    for begin in range(0, len(found), BATCH):
        part = found[begin : begin + BATCH]
        posts = {post_id for _, post_id in part if post_id is not None}
        others = [id_ for id_, post_id in part if post_id is None]
        yield Q(post_id__in=posts) | Q(pk__in=others)
