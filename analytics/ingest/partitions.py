"""Monthly partitions of events on PostgreSQL, created ahead of time and dropped as a whole.

Rows of other months are in the partition `analytics_event_rest` until their month is created. On
SQLite the table is not partitioned, and nothing here does anything.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Final

from django.db import OperationalError, connection, transaction

from analytics.models import AnalyticsEvent
from analytics.periods import today
from proofroom.core.independent_steps import independent_steps

logger = logging.getLogger(__name__)
MONTHS_AHEAD: Final = 3
"""Number of months created before they begin."""
_TABLE: Final = AnalyticsEvent._meta.db_table
_REST_TABLE: Final = "analytics_event_rest"
_PARTITION_NAME: Final = re.compile(r"analytics_event_(\d{4})_(\d{2})")
_MAINTENANCE_LOCK: Final = 0x616E_6101
_LOCK_TIMEOUT: Final = "2s"
"""Lock timeout of a change of the table, because later readers and writers queue behind it."""
_PARTITIONS: Final = """
    SELECT part.relname FROM pg_inherits
    JOIN pg_class part ON part.oid = inhrelid
    WHERE inhparent = to_regclass(%s) ORDER BY part.relname
"""
_MONTHS_OF_REST: Final = f"""
    SELECT DISTINCT (date_trunc('month', created_at AT TIME ZONE 'UTC'))::date FROM {_REST_TABLE}
"""  # noqa: S608  # a name of our own
_MONTH_BOUND: Final = "%Y-%m-01 00:00:00+00"


def months() -> list[date]:
    """Return the first days of the months that have a partition."""
    found = [_PARTITION_NAME.fullmatch(name) for name in _partitions()]
    return [date(int(name[1]), int(name[2]), 1) for name in found if name is not None]


def create_partitions_ahead() -> list[date]:
    """Create partitions for this month, the next three, and the months in the rest partition.

    Returns the created months. Idempotent.
    """
    if _REST_TABLE not in _partitions():
        return []
    this = today().replace(day=1)
    wanted = {_add_months(this, number) for number in range(MONTHS_AHEAD + 1)}
    with connection.cursor() as cursor:
        cursor.execute(_MONTHS_OF_REST)
        # Rows outside of all partitions, for example after a long stop of the scheduler.
        wanted |= {month for (month,) in cursor.fetchall()}
    made = []
    with independent_steps() as step:
        for month in sorted(wanted - set(months())):
            with step(f"making the month {month:%Y-%m}"), _lock_maintenance() as is_locked:
                if is_locked and month not in months():
                    _create_partition(month)
                    made.append(month)
    return made


def drop_before(moment: datetime, *, counted_to: int) -> list[date]:
    """Drop the partitions of months that ended before a time, unless they have rows not added up.
    Return the months.
    """
    dropped = []
    for month in months():
        if _start_of(_add_months(month, 1)) > moment:
            break
        with _lock_maintenance() as is_locked:
            if is_locked and _drop_partition(month, counted_to):
                dropped.append(month)
    return dropped


@contextmanager
def _lock_maintenance() -> Iterator[bool]:
    """Yield True in a transaction that may change the table, False if another process is changing it.
    Gives up early.

    Waiting, for example for a long report, would block all later readers and writers; the next run
    does the work instead.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_MAINTENANCE_LOCK])
            yield bool(cursor.fetchone()[0])
    except OperationalError as error:
        logger.warning(
            "cannot maintain the monthly partitions of analytics now; the next task tries again: %s",
            error,
        )


def _create_partition(month: date) -> None:
    """Create the partition of a month, and move its rows from the rest partition."""
    name = f"analytics_event_{month:%Y_%m}"
    begin, end = _start_of(month), _start_of(_add_months(month, 1))
    bounds = f"FROM ('{begin:{_MONTH_BOUND}}') TO ('{end:{_MONTH_BOUND}}')"
    with connection.cursor() as cursor:
        # Blocks writers of this month until its rows are moved.
        cursor.execute(f"LOCK TABLE {_REST_TABLE} IN ACCESS EXCLUSIVE MODE")
        cursor.execute(
            f"CREATE TABLE {name} (LIKE {_TABLE} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
        )
        cursor.execute(
            f"WITH moved AS (DELETE FROM {_REST_TABLE} WHERE created_at >= %s AND created_at < %s"  # noqa: S608  # names of our own
            f" RETURNING *) INSERT INTO {name} SELECT * FROM moved",
            [begin, end],
        )
        cursor.execute(f"ALTER TABLE {_TABLE} ATTACH PARTITION {name} FOR VALUES {bounds}")


def _drop_partition(month: date, counted_to: int) -> bool:
    name = f"analytics_event_{month:%Y_%m}"
    with connection.cursor() as cursor:
        # Locks the table before the partition, in the same order as readers, to avoid deadlocks.
        cursor.execute(f"LOCK TABLE ONLY {_TABLE} IN ACCESS EXCLUSIVE MODE")
        if month not in months():
            return False
        cursor.execute(f"SELECT coalesce(max(id), 0) FROM {name}")  # noqa: S608  # as above
        # Events that are not added up yet must not be lost.
        if cursor.fetchone()[0] > counted_to:
            return False
        cursor.execute(f"DROP TABLE {name}")
    return True


def _partitions() -> list[str]:
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS, [_TABLE])
        return [name for (name,) in cursor.fetchall()]


def _add_months(month: date, number: int) -> date:
    years, place = divmod(month.month - 1 + number, 12)
    return date(month.year + years, place + 1, 1)


def _start_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
