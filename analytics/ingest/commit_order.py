"""In which order events can be read on PostgreSQL, where a lower id may be committed after a higher one.

Who writes events holds `BEING_WRITTEN` shared from before they have ids until they are committed. Who takes it alone,
for an instant, knows that nobody is in between: no event up to the highest id then will ever come after.
"""

from __future__ import annotations

from typing import Final

from django.db import OperationalError, connection, transaction
from django.db.models import Max

from analytics.models import AnalyticsEvent

BEING_WRITTEN: Final = 0x616E_6102
_PATIENCE: Final = "1s"
"""Later writers wait behind whoever waits for them all: not for long, where one of them is stuck."""


def last_settled_id() -> int | None:
    """The highest id below which no event is still to come; None where a writer did not come to its end.

    Call it outside of a transaction: within one, writers would wait for its end.
    """
    if connection.vendor != "postgresql":  # one writer at a time
        return _highest()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_PATIENCE])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [BEING_WRITTEN])
            # A statement of its own, which sees what was committed before the lock.
            return _highest()
    except OperationalError:
        return None


def _highest() -> int:
    return AnalyticsEvent.objects.aggregate(highest=Max("id"))["highest"] or 0
