"""Writes events in one statement, all or none, and finds the id up to which they can be read.

All events are passed as one JSON text, so that there is a single statement to prepare. That was
three times as fast as an insert of the ORM for a single event, and five times for a hundred.

On PostgreSQL a lower id may be committed after a higher one. A writer therefore holds `WRITE_LOCK`
shared from before its events get ids until they are committed. A process that takes it exclusively,
for an instant, knows that no event with an id up to the current maximum is still uncommitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import orjson
from django.db import OperationalError, connection, transaction

from analytics.models import AnalyticsEvent
from proofroom.core.json import JsonObject

# An arbitrary key for the advisory lock: "ana" in ASCII, and a number.
WRITE_LOCK: Final = 0x616E_6102
_LOCK_TIMEOUT: Final = "1s"
"""Later writers queue behind an exclusive waiter, so it must give up soon if a writer is stuck."""
EVENTS: Final = AnalyticsEvent._meta.db_table
TYPES: Final = {
    "event_type": "text",
    "post_id": "uuid",
    "x": "float8",
    "y": "float8",
    "viewport_width": "integer",
    "metadata": "jsonb",
    "locale": "text",
    "version": "integer",
    "variation_of": "uuid",
    "goal": "text",
}
ID_COLUMNS: Final = ("post_id", "variation_of")
COLUMNS: Final = ", ".join(TYPES)
HELD: Final = f"""
    SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock_shared({WRITE_LOCK})
"""  # a number of our own
"""The lock is taken before rows and their ids exist. The commit does not wait for the disk."""
RECORDS: Final = (
    "json_to_recordset(%s::json) AS event "
    f"({', '.join(f'{name} {kind}' for name, kind in TYPES.items())})"
)
_POSTGRESQL: Final = f"""
    WITH held AS MATERIALIZED ({HELD})
    INSERT INTO {EVENTS} (created_at, {COLUMNS})
    SELECT %s, {", ".join(f"event.{name}" for name in TYPES)} FROM held CROSS JOIN {RECORDS}
"""  # noqa: S608  # names of our own
_SQLITE: Final = f"""
    INSERT INTO {EVENTS} (created_at, {COLUMNS})
    SELECT %s, {
    ", ".join(
        f"replace(json_extract(value, '$.{name}'), '-', '')"
        if name in ID_COLUMNS
        else f"json_extract(value, '$.{name}')"
        for name in TYPES
    )
} FROM json_each(%s)
"""  # noqa: S608  # as above


def write_events(rows: Sequence[JsonObject], *, at: datetime) -> None:
    """Store events, given by column names. One statement, or none without rows.

    A killed process loses nothing it has answered. A crash of PostgreSQL may lose the last moments
    (three times `wal_writer_delay`, 0.6 s by default), a power loss with SQLite the writes since
    the last checkpoint; in both cases each call is stored completely or not at all.
    """
    if not rows:
        return
    sql = _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE
    moment = connection.ops.adapt_datetimefield_value(at)
    values = [moment, orjson.dumps(rows).decode()]
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def last_settled_id() -> int | None:
    """Return the highest id up to which no event is missing; None if a writer did not finish in time.

    Call it outside of a transaction, because writers would wait for its end.
    """
    ids = AnalyticsEvent.objects.order_by("-id").values_list("id", flat=True)
    if connection.vendor != "postgresql":  # one writer at a time
        return ids.first() or 0
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_LOCK_TIMEOUT])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WRITE_LOCK])
            # A separate statement, which sees everything committed before the lock.
            return ids.first() or 0
    except OperationalError:
        return None
