"""The database backend: Django's with another pool and a health check before a connection is reused."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import InterfaceError, OperationalError

from proofroom.core.database.errors import CommitInterrupted
from proofroom.core.database.postgresql.answer_watch import answer_watch
from proofroom.core.database.postgresql.connection import PooledConnection
from proofroom.core.database.postgresql.outdated_plans import ReplanningCursor
from proofroom.core.database.postgresql.pool import Connection, ConnectionPool, is_dead


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper for PostgreSQL with this package's pool.

    A thread may hold a connection while it waits for something else: an agent's run for its model, a task for its
    next message. A connection that died in the meantime is replaced, except inside a transaction.
    """

    _connection_pools: ClassVar[dict[str, ConnectionPool]] = {}

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
                connection = PooledConnection.connect(**parameters)
                self._configure_connection(connection)  # type: ignore[attr-defined]  # missing in the stubs
                connection.pool = self._connection_pools[alias]
                answer_watch.add(connection, alias)
                return connection

            # Of two threads that arrive at the same time, one creates a pool that is never used.
            self._connection_pools.setdefault(self.alias, ConnectionPool(connect, **options))
        return self._connection_pools[self.alias]

    def _close(self) -> None:
        pool = getattr(self.connection, "pool", None)
        if pool is None:
            super()._close()  # type: ignore[misc]  # missing in the stubs
            return
        # Django would ask psycopg for the pool, which knows only pools of its own class.
        with self.wrap_database_errors:
            pool.putconn(self.connection)
        self.connection = None

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
