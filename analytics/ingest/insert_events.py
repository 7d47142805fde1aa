"""Events written in one statement: all of them, or none.

One text of JSON carries them, whatever their number, so that there is one statement to prepare. That was three times
as fast as an insert of the ORM for a single event, and five times for a hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import orjson
from django.db import connection

from analytics.ingest.commit_order import BEING_WRITTEN
from analytics.models import AnalyticsEvent
from proofroom.core.json import JsonObject

_TABLE: Final = AnalyticsEvent._meta.db_table
_TYPES: Final = {
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
_IDS: Final = ("post_id", "variation_of")
_COLUMNS: Final = ", ".join(_TYPES)
# Only once the lock is held is there a row, and so an id. The commit is not waited for.
_POSTGRESQL: Final = f"""
    WITH held AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock_shared({BEING_WRITTEN})
    )
    INSERT INTO {_TABLE} (created_at, {_COLUMNS})
    SELECT %s, {", ".join(f"event.{name}" for name in _TYPES)} FROM held CROSS JOIN
    json_to_recordset(%s::json) AS event ({", ".join(f"{name} {kind}" for name, kind in _TYPES.items())})
"""  # noqa: S608  # names of our own
_SQLITE: Final = f"""
    INSERT INTO {_TABLE} (created_at, {_COLUMNS})
    SELECT %s, {
    ", ".join(
        f"replace(json_extract(value, '$.{name}'), '-', '')"
        if name in _IDS
        else f"json_extract(value, '$.{name}')"
        for name in _TYPES
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
    with connection.cursor() as cursor:
        cursor.execute(sql, [moment, orjson.dumps(rows).decode()])
