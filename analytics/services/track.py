"""Views and clicks: taken in one statement, and forgotten by age.

They are no writes to content: nothing of the site depends on them, and the activity log holds none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from analytics.models import AnalyticsEvent
from content.queries import published_posts
from core.json import Json

_BATCH: Final = 5_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A view or a click, as a page reports it."""

    event_type: str
    post_id: UUID | None = None
    x: float | None = None
    y: float | None = None
    viewport_width: int | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


def track(*, seen: Sequence[Seen]) -> int:
    """Keep what pages report; answers how many. At most two queries.

    What names a post that nobody can see is left out, whether there is such a post or not.
    """
    known = _published(one.post_id for one in seen if one.post_id is not None)
    now = timezone.now()
    rows = [
        AnalyticsEvent(
            event_type=one.event_type,
            post_id=one.post_id,
            x=one.x,
            y=one.y,
            viewport_width=one.viewport_width,
            metadata=dict(one.metadata),
            created_at=now,
        )
        for one in seen
        if one.post_id is None or one.post_id in known
    ]
    AnalyticsEvent.objects.bulk_create(rows)
    return len(rows)


def _published(ids: Iterable[UUID]) -> set[UUID]:
    wanted = set(ids)
    if not wanted:
        return set()
    return set(published_posts().filter(pk__in=wanted).values_list("pk", flat=True))


def forget_old_events(*, days: int) -> int:
    """Delete what is older than that many days. Answers how much; 0 days keep everything. Safe to run twice."""
    if days <= 0:
        return 0
    old = AnalyticsEvent.objects.filter(created_at__lt=timezone.now() - timedelta(days=days))
    total = 0
    while True:
        with transaction.atomic():
            batch = list(old.order_by("created_at").values_list("pk", flat=True)[:_BATCH])
            if not batch:
                return total
            AnalyticsEvent.objects.filter(pk__in=batch).delete()
            total += len(batch)
