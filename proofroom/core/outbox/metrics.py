"""Metrics of waiting events."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Min
from django.utils import timezone

from proofroom.core.models import Event
from proofroom.core.observability.metrics import MetricReading
from proofroom.core.outbox.dispatch import due_events


def read_backlog() -> Iterator[MetricReading]:
    """Yield the number of events due for delivery and the age of the oldest one. One query."""
    now = timezone.now()
    found = Event.objects.filter(due_events(now)).aggregate(
        waiting=Count("id"), oldest=Min("created_at")
    )
    oldest = found["oldest"]
    yield MetricReading(
        "proofroom_events_due", "Events that subscribers wait for.", found["waiting"]
    )
    yield MetricReading(
        "proofroom_oldest_event_due_seconds",
        "Age of the first event that is due.",
        (now - oldest).total_seconds() if oldest is not None else 0.0,
    )
