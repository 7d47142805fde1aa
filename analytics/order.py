"""Events by their ids: none is added up before all with lower ids are stored, or never will be.

PostgreSQL gives ids out when rows are written and shows rows when they are committed: in another order. Writers hold
`LOCK` shared from before their rows get ids until they are committed. Who has it alone for an instant knows that
nobody is in between: every later row has a higher id than all that are there. SQLite has one writer at a time.
"""

from __future__ import annotations

from typing import Final

from django.db import OperationalError, connection, transaction
from django.db.models import Max

from analytics.models import AnalyticsEvent

LOCK: Final = 7_325_118_003
"""The advisory lock: writers take it by `pg_advisory_xact_lock_shared` before they write."""
_PATIENCE: Final = "1s"
"""Whoever waits for the lock has later writers wait too: not for long, where one is stuck."""


def highest_settled() -> int | None:
    """The highest id that may be added up to; None where a writer does not come to an end."""
    if connection.vendor != "postgresql":
        return _highest()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_PATIENCE])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            return _highest()
    except OperationalError:
        return None


def _highest() -> int:
    return AnalyticsEvent.objects.aggregate(highest=Max("id"))["highest"] or 0
