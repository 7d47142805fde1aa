"""Work that is rather left than waited for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def short_busy_timeout(seconds: float) -> Iterator[None]:
    """Have writes of SQLite, which has one writer at a time, give up early with an `OperationalError`.

    Elsewhere nothing changes.
    """
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    database = connection.connection
    usual = database.execute("PRAGMA busy_timeout").fetchone()[0]
    database.execute(f"PRAGMA busy_timeout = {round(seconds * 1_000)}")
    try:
        yield
    finally:
        database.execute(f"PRAGMA busy_timeout = {usual}")
