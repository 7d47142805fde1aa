"""Counts of whole months, made from those of their days once they are over: long periods are read from few rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Final

from django.db import connection, transaction
from django.utils import timezone

from analytics.models import RollUp
from analytics.rollups.aggregate import lock_state
from analytics.rollups.write_rollups import POSTS, SITE, RollupTable

COUNTS: Final = (SITE, POSTS)


def months_to() -> date:
    """The first day whose month has no counts of its own. One statement."""
    return RollUp.objects.values_list("months_to", flat=True).first() or date.min


def close_months(now: datetime | None = None) -> None:
    """Make those of all months that are over. Safe to run twice; the next run makes what this one cannot."""
    end = (now or timezone.now()).astimezone(UTC).date().replace(day=1)
    if not RollUp.objects.filter(months_to__lt=end).exists():
        return
    with transaction.atomic():
        state = lock_state(wait=False)
        if state is None or state.months_to >= end:
            return
        for table in COUNTS:
            add_months(table, state.months_to, end)
        state.months_to = end
        state.save(update_fields=["months_to"])


def add_months(table: RollupTable, first: date, end: date) -> None:
    """What the days from the first until the end come to, by month."""
    keys = [name for name in table.keys if name not in ("grain", "day")]
    sums = ", ".join(f"SUM({name})" for name in table.sums)
    is_on_postgresql = connection.vendor == "postgresql"
    month = "date_trunc('month', day)::date" if is_on_postgresql else "date(day, 'start of month')"
    # The names are those of the table; the values are parameters.
    statement = (
        f"INSERT INTO {table.name} (grain, day, {', '.join([*keys, *table.sums])}) "  # noqa: S608
        f"SELECT 'month', {month}, {', '.join(keys)}, {sums} FROM {table.name} "
        f"WHERE grain = 'day' AND day >= %s AND day < %s GROUP BY {', '.join([month, *keys])}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [first, end])
