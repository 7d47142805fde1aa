"""Deleting a month of events: dropping its partition, next to a DELETE of a month of equal size."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime

from django.db import connection

from analytics.ingest.partitions import drop_before, months
from analytics.models import RollUp


def measure() -> str:
    """Return the time of a DELETE of the first whole month, and of dropping the next one as retention does."""
    _, deleted, dropped, *_ = months()
    begin = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM analytics_analyticsevent WHERE created_at >= %s AND created_at < %s",
            [_moment(deleted), _moment(dropped)],
        )
        gone = cursor.rowcount
    middle = time.perf_counter()
    counted_to = RollUp.objects.values_list("counted_to", flat=True).first() or 0
    dropped_months = drop_before(_after(dropped), counted_to=counted_to)
    end = time.perf_counter()
    return (
        f"Forgetting a month: DELETE of {gone:,} events {1000 * (middle - begin):,.0f} ms (VACUUM to follow); "
        f"{len(dropped_months)} months dropped as partitions {1000 * (end - middle):,.0f} ms."
    )


def _after(month: date) -> datetime:
    return _moment(months()[months().index(month) + 1])


def _moment(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
