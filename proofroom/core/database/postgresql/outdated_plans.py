"""Statements that were prepared before a migration changed what they answer, asked again with a new plan.

PostgreSQL refuses such a statement ("cached plan must not change result type"). Psycopg takes back what it prepared
only after a rollback: outside of a transaction the statement would fail for as long as the connection lasts.
"""

from __future__ import annotations

from typing import Any, Final, Protocol, Self, cast

import psycopg
from django.db.backends.postgresql.base import ServerBindingCursor
from psycopg.errors import FeatureNotSupported
from psycopg.pq import TransactionStatus

from proofroom.core.database.faults import TablesChanged
from proofroom.core.database.postgresql.pool import ConnectionPool

_REFUSED_BY: Final = "RevalidateCachedQuery"
"""The function of PostgreSQL that raises it. The code belongs to other errors too, and the message is translated."""


class _Reads(Protocol):
    def forget(self) -> None: ...


class PreparingConnection(Protocol):
    """A connection with statements of its own (`prepared_reads`), in a pool."""

    prepare_threshold: int | None

    @property
    def reads(self) -> _Reads: ...

    @property
    def pool(self) -> ConnectionPool | None: ...


def drop_plans(connection: PreparingConnection, error: FeatureNotSupported, status: int) -> None:
    """Get the connection ready for asking again. `status` is its `TransactionStatus` before the statement.

    Its cursors prepare nothing more, and the pool replaces all connections that were open until now. Raises
    `TablesChanged` where earlier statements of the transaction are lost with this one, and an error of another kind
    as it is.
    """
    if error.diag.source_function != _REFUSED_BY:
        raise error
    connection.prepare_threshold = None
    connection.reads.forget()
    if connection.pool is not None:
        connection.pool.renew()
    if status != TransactionStatus.IDLE:
        raise TablesChanged("a table was changed since this statement was prepared") from error


class ReplanningCursor(ServerBindingCursor, psycopg.Cursor[Any]):
    """Asks again where PostgreSQL refused the plan of a statement, of which nothing was done then."""

    def execute(self, *arguments: Any, **options: Any) -> Self:
        status = self.connection.pgconn.transaction_status
        try:
            return super().execute(*arguments, **options)
        except FeatureNotSupported as error:
            drop_plans(cast("PreparingConnection", self.connection), error, status)
        if not self.connection.autocommit:
            self.connection.rollback()  # the statement was the first of its transaction, and begins it again
        return super().execute(*arguments, **options)
