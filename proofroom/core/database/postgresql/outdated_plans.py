"""Retry of statements whose prepared plan became invalid by a migration.

PostgreSQL refuses such a statement ("cached plan must not change result type"). Psycopg discards prepared statements
only after a rollback, so outside of a transaction the statement would fail as long as the connection lasts.
"""

from __future__ import annotations

from typing import Any, Final, Self, cast

import psycopg
from django.db.backends.postgresql.base import ServerBindingCursor
from psycopg.errors import FeatureNotSupported
from psycopg.pq import TransactionStatus

from proofroom.core.database.errors import TablesChanged
from proofroom.core.database.postgresql.connection import PooledConnection

_REFUSED_BY: Final = "RevalidateCachedQuery"
"""The PostgreSQL function that raises the error.

Its SQLSTATE is used by other errors, too, and the message is translated.
"""


def _drop_plans(connection: PooledConnection, error: FeatureNotSupported, status: int) -> None:
    """Prepare the connection for a retry. `status` is the `TransactionStatus` before the statement.

    Its cursors no longer prepare statements, and the pool replaces all older connections. Raises `TablesChanged` if
    earlier statements of the transaction are lost, and other errors unchanged.
    """
    if error.diag.source_function != _REFUSED_BY:
        raise error
    # Psycopg would use the outdated statement again.
    connection.prepare_threshold = None
    if connection.pool is not None:
        connection.pool.renew()
    if status != TransactionStatus.IDLE:
        raise TablesChanged("a table was changed since this statement was prepared") from error


class ReplanningCursor(ServerBindingCursor, psycopg.Cursor[Any]):
    """Retries a statement whose plan PostgreSQL refused. Such a statement had no effect."""

    def execute(self, *arguments: Any, **options: Any) -> Self:
        status = self.connection.pgconn.transaction_status
        try:
            return super().execute(*arguments, **options)
        except FeatureNotSupported as error:
            _drop_plans(cast("PooledConnection", self.connection), error, status)
        if not self.connection.autocommit:
            self.connection.rollback()  # this was the first statement of its transaction, which starts again
        return super().execute(*arguments, **options)
