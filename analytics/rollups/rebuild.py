"""Figures made anew from the events that are still stored.

In one transaction: readers see the old figures or the new ones, and a killed recount changed nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from analytics.models import AnalyticsEvent, Grain, HeatCell, PostCount, SiteCount
from analytics.rollups import write_rollups
from analytics.rollups.aggregate import lock_state
from analytics.rollups.chunks import next_chunk
from analytics.rollups.months import COUNTS, add_months

_CHUNK: Final = 50_000


@dataclass(frozen=True, slots=True)
class Recounted:
    """From which day on figures were made anew, and of how many events. Earlier days stay as they were."""

    first: date | None
    events: int


@transaction.atomic
def rebuild_rollups() -> Recounted:
    """Make the figures of all days anew whose events are stored whole. What was not counted yet stays so."""
    state = lock_state(wait=True)
    first = _first_whole_day()
    if state is None or first is None:
        return Recounted(None, 0)
    month = first.replace(day=1)
    HeatCell.objects.filter(day__gte=first).delete()
    for model in (SiteCount, PostCount):
        model._default_manager.filter(grain=Grain.DAY, day__gte=first).delete()
        model._default_manager.filter(grain=Grain.MONTH, day__gte=month).delete()
    if first != month and month < state.months_to:
        for table in COUNTS:
            add_months(table, month, first)
    since = datetime.combine(first, time(), UTC)
    after = counted = 0
    while (chunk := next_chunk(after, state.counted_to, _CHUNK, since)).events:
        write_rollups.add(chunk, state.months_to)
        counted += chunk.events
        after = chunk.to
    return Recounted(first, counted)


def _first_whole_day() -> date | None:
    """The first day of which no event can be missing: old ones are deleted by age, in the middle of a day."""
    oldest = AnalyticsEvent.objects.aggregate(oldest=Min("created_at"))["oldest"]
    if oldest is None:
        return None
    first: date = oldest.astimezone(UTC).date()
    if SiteCount.objects.filter(grain=Grain.DAY, day__lt=first).exists():
        first += timedelta(days=1)
    days = settings.CMS_ENV.analytics_retention_days
    if days:
        kept_since = (timezone.now() - timedelta(days=days)).astimezone(UTC).date()
        first = max(first, kept_since + timedelta(days=1))
    return first
