"""Writes events in one statement, all or none, and tells up to which id they can be read.

One text of JSON carries them, whatever their number, so that there is one statement to prepare. That was three times
as fast as an insert of the ORM for a single event, and five times for a hundred.

On PostgreSQL a lower id may be committed after a higher one. So a writer holds `WRITE_LOCK` shared from before its
events have ids until they are committed. Who takes it alone, for an instant, knows that nobody is in between: no
event up to the highest id then will ever come after.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

import orjson
from django.db import OperationalError, connection, transaction

from analytics.models import AnalyticsEvent
from proofroom.core.json import JsonObject

if TYPE_CHECKING:
    from proofroom.core.database.postgresql.base import DatabaseWrapper as PostgreSQL

WRITE_LOCK: Final = 0x616E_6102
_LOCK_TIMEOUT: Final = "1s"
"""Later writers wait behind whoever waits for them all: not for long, where one of them is stuck."""
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
"""Only once the lock is held is there a row, and so an id. The commit is not waited for."""
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
"""  # noqa: S608  # likewise


def write_events(rows: Sequence[JsonObject], *, at: datetime) -> None:
    """Store events, by the names of their columns. One statement, none without rows.

    A process that is killed loses nothing that it answered. A PostgreSQL that crashes may lose what it took in its
    last moments (three times `wal_writer_delay`, 0.6 s as it comes), a machine with SQLite that loses power what was
    written since the last checkpoint; both keep each call whole, or nothing of it.
    """
    if not rows:
        return
    sql = _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE
    moment = connection.ops.adapt_datetimefield_value(at)
    values = [moment, orjson.dumps(rows).decode()]
    # One statement fails whole, so that it may go without a cursor as a read does.
    is_postgresql = connection.vendor == "postgresql"
    if not is_postgresql or cast("PostgreSQL", connection).read(sql, values) is None:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)


def last_settled_id() -> int | None:
    """The highest id below which no event is still to come; None where a writer did not come to its end.

    Call it outside of a transaction: within one, writers would wait for its end.
    """
    ids = AnalyticsEvent.objects.order_by("-id").values_list("id", flat=True)
    if connection.vendor != "postgresql":  # one writer at a time
        return ids.first() or 0
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_LOCK_TIMEOUT])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WRITE_LOCK])
            # A statement of its own, which sees what was committed before the lock.
            return ids.first() or 0
    except OperationalError:
        return None
