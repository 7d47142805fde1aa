"""The database backend: Django's with another pool and a health check before a connection is reused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC
from functools import partial
from typing import Any, ClassVar

from django.core.exceptions import SynchronousOnlyOperation
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import InterfaceError, OperationalError

from proofroom.core.database.errors import CommitInterrupted
from proofroom.core.database.event_loop_reads import longest_wait
from proofroom.core.database.postgresql.answer_watch import answer_watch
from proofroom.core.database.postgresql.outdated_plans import ReplanningCursor
from proofroom.core.database.postgresql.pool import Connection, ConnectionPool, is_dead
from proofroom.core.database.postgresql.prepared_reads import ReadingConnection
from proofroom.core.database.postgresql.timestamps import utc_adapters


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper for PostgreSQL with this package's pool.

    A thread may hold a connection while it waits for something else: an agent's run for its model, a task for its
    next message. A connection that died in the meantime is replaced, except inside a transaction.
    """

    _connection_pools: ClassVar[dict[str, ConnectionPool]] = {}
    _has_connected: bool = False

    @property
    def pool(self) -> ConnectionPool | None:
        options: dict[str, Any] | None = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self._connection_pools:
            alias = self.alias
            parameters = {
                **self.get_connection_params(),
                "autocommit": True,
                "cursor_factory": ReplanningCursor,
            }

            def connect() -> Connection:
                connection = ReadingConnection.connect(**parameters)
                self._configure_connection(connection)  # type: ignore[attr-defined]  # missing in the stubs
                connection.pool = self._connection_pools[alias]
                answer_watch.add(connection, alias)
                return connection

            # Of two threads that arrive at the same time, one creates a pool that is never used.
            self._connection_pools.setdefault(self.alias, ConnectionPool(connect, **options))
        return self._connection_pools[self.alias]

    def get_connection_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super().get_connection_params()
        if self.timezone is UTC:
            parameters["context"] = utc_adapters()
        return parameters

    def connect(self) -> None:
        super().connect()
        self._has_connected = True

    def close_if_health_check_failed(self) -> None:
        """Close a dead connection. Django calls it before each statement and around transactions."""
        # Django's method also reconnects. After a commit, a failed reconnect would look like a
        # failed commit, so only close here.
        is_between = self.autocommit and not self.in_atomic_block
        if self.connection is not None and is_between and is_dead(self.connection):
            self.close()

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]  # missing in the stubs
        except (OperationalError, InterfaceError) as error:
            # The server reports a failed commit on a living connection. If the connection is lost,
            # the result is unknown.
            if self.connection is None or self.connection.closed:
                raise CommitInterrupted(str(error)) from error
            raise

    def read(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]] | None:
        """Return the rows of a statement without using a cursor; None if a cursor is needed.

        A cursor is needed if queries are logged, and in a failed transaction. If this thread holds no connection, the
        pool lends one for this statement only, because Django's way to take and return a connection costs as much as
        the statement.
        """
        if self.queries_logged:
            return None
        pool = self.pool
        if longest_wait() is not None:
            if pool is None:
                raise SynchronousOnlyOperation("there is no pool to take a connection of")
            return self._read_from(pool.idle_connection(), pool, sql, parameters)
        # The first connection is opened in Django's way, which sends `connection_created`.
        is_held = self.connection is not None or self.in_atomic_block
        if pool is not None and not is_held and self._has_connected:
            with self.wrap_database_errors:
                connection = pool.getconn()
            return self._read_from(connection, pool, sql, parameters)
        self.validate_no_broken_transaction()
        self.close_if_health_check_failed()
        self.ensure_connection()
        return self._read_by(self.connection, sql, parameters)

    def _read_from(
        self, connection: Connection, pool: ConnectionPool, sql: str, parameters: Sequence[Any]
    ) -> list[tuple[Any, ...]] | None:
        try:
            return self._read_by(connection, sql, parameters)
        finally:
            pool.putconn(connection)

    def _read_by(
        self, connection: Connection | None, sql: str, parameters: Sequence[Any]
    ) -> list[tuple[Any, ...]] | None:
        if not isinstance(connection, ReadingConnection) or not connection.reads.is_ready(
            self.in_atomic_block
        ):
            return None

        def execute(
            sql: str, parameters: Sequence[Any], many: bool, context: dict[str, Any]
        ) -> list[tuple[Any, ...]]:
            with self.wrap_database_errors:
                return connection.reads.rows(sql, parameters)

        ask: Callable[..., list[tuple[Any, ...]]] = execute
        for wrapper in reversed(self.execute_wrappers):
            ask = partial(wrapper, ask)
        return ask(sql, parameters, False, {"connection": self, "cursor": None})
