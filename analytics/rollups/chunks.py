"""The next events to be added up, as a part of their ids."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django.db.models import Count, Max

from analytics.models import AnalyticsEvent

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The events after an id, to one with it: how many they are, and when the last of them came.

    `since` leaves out those that came before.
    """

    after: int
    to: int
    events: int
    came_at: datetime | None
    since: datetime = BEGINNING


def next_chunk(after: int, to: int, limit: int, since: datetime = BEGINNING) -> Chunk:
    """Up to that many of them. One statement, or two."""
    chosen = AnalyticsEvent.objects.filter(id__gt=after, id__lte=to)
    if since != BEGINNING:
        chosen = chosen.filter(created_at__gte=since)
    found = chosen.order_by("id").values("id")[:limit].aggregate(events=Count("id"), last=Max("id"))
    last = found["last"]
    if last is None:
        return Chunk(after, after, 0, None, since)
    came_at = AnalyticsEvent.objects.values_list("created_at", flat=True).get(pk=last)
    return Chunk(after, last, found["events"], came_at, since)
