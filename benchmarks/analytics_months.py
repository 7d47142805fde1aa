"""Forgetting a month of events: its partition dropped, beside DELETE of one as large."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime

from django.db import connection

from analytics.ingest.partitions import drop_before, months
from analytics.models import RollUp


def measure() -> str:
    """What the first whole month takes by DELETE, and the one after it as retention drops it."""
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
    held = drop_before(_after(dropped), counted_to=counted_to)
    end = time.perf_counter()
    return (
        f"Forgetting a month: DELETE of {gone:,} events {1000 * (middle - begin):,.0f} ms (VACUUM to follow); "
        f"{len(held)} months dropped as partitions {1000 * (end - middle):,.0f} ms."
    )


def _after(month: date) -> datetime:
    return _moment(months()[months().index(month) + 1])


def _moment(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
