"""The connections of the pool."""

from __future__ import annotations

import time
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen

from proofroom.core.database.postgresql.pool import ConnectionPool

RV = TypeVar("RV")
MAX_PREPARED: Final = 300
"""For more statements than psycopg's default of 100. Preparing one again costs as much as running it."""


class PooledConnection(psycopg.Connection[Any]):
    """A connection with its pool, its age, and the time of its pending query (`answer_watch`)."""

    pool: ConnectionPool | None = None
    answer_seconds: float | None = None
    asked_at: float | None = None

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.opened_at = time.monotonic()
        self.prepared_max = MAX_PREPARED

    def wait(self, gen: PQGen[RV], *arguments: Any, **settings: Any) -> RV:
        """Record the time of the query. Psycopg calls it for all statements of cursors."""
        self.asked_at = time.monotonic()
        try:
            return super().wait(gen, *arguments, **settings)
        finally:
            self.asked_at = None
