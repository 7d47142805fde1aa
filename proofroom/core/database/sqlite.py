"""A shorter wait for SQLite's write lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def short_busy_timeout(seconds: float) -> Iterator[None]:
    """Make SQLite writes in the block fail early with `OperationalError` if another writer is active.

    SQLite allows one writer at a time. Other databases are not affected.
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
