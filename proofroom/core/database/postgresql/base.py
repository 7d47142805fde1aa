"""The backend: Django's own with another pool, and with a look at a connection before it is used again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC
from functools import partial
from typing import Any, ClassVar

from django.core.exceptions import SynchronousOnlyOperation
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import InterfaceError, OperationalError

from proofroom.core.database.event_loop_reads import longest_wait
from proofroom.core.database.faults import CommitInterrupted
from proofroom.core.database.postgresql.answer_watch import answer_watch
from proofroom.core.database.postgresql.outdated_plans import ReplanningCursor
from proofroom.core.database.postgresql.pool import Connection, ConnectionPool, is_dead
from proofroom.core.database.postgresql.prepared_reads import ReadingConnection
from proofroom.core.database.postgresql.timestamps import utc_adapters


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread may hold a connection for as long as it waits for something else: an agent's run for its model, a task
    for its next message. Outside of a transaction a connection that died meanwhile is replaced unseen.
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
                self._configure_connection(connection)  # type: ignore[attr-defined]  # missing from the stubs
                connection.pool = self._connection_pools[alias]
                answer_watch.add(connection, alias)
                return connection

            # Where two threads come here at once, one of the two pools is never used.
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
        """Called by Django before each statement, and before and after each transaction: what is committed must not
        fail for want of another connection."""
        is_between = self.autocommit and not self.in_atomic_block
        if self.connection is not None and is_between and is_dead(self.connection):
            self.close()

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]  # missing from the stubs
        except (OperationalError, InterfaceError) as error:
            # A refusal comes over a connection that stands. Without one nobody knows what became of the transaction.
            if self.connection is None or self.connection.closed:
                raise CommitInterrupted(str(error)) from error
            raise

    def read(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]] | None:
        """The rows that a statement answers, without a cursor; None where a cursor has to ask.

        It has to where statements are logged, and in a transaction that has failed. Where this thread holds no
        connection yet, one of the pool serves this statement only: Django's taking of a connection and giving it back
        costs the caller as much as the statement.
        """
        if self.queries_logged:
            return None
        pool = self.pool
        if longest_wait() is not None:
            if pool is None:
                raise SynchronousOnlyOperation("there is no pool to take a connection of")
            return self._read_from(pool.idle_connection(), pool, sql, parameters)
        # Once it connects as Django does, so that receivers of `connection_created` know of it.
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
