"""The backend: Django's own with another pool, and with a look at a connection before it is used again."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base

from proofroom.core.database.postgresql.pool import Connection, ConnectionPool, is_dead


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread may hold a connection for as long as it waits for something else: an agent's run for its model, a task
    for its next message. Outside of a transaction a connection that died meanwhile is replaced unseen.
    """

    _connection_pools: ClassVar[dict[str, ConnectionPool]] = {}

    @property
    def pool(self) -> ConnectionPool | None:
        options: dict[str, Any] | None = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self._connection_pools:
            parameters = {**self.get_connection_params(), "autocommit": True}

            def connect() -> Connection:
                connection: Connection = self.Database.connect(**parameters)
                self._configure_connection(connection)  # type: ignore[attr-defined]  # missing from the stubs
                return connection

            # Where two threads come here at once, one of the two pools is never used.
            self._connection_pools.setdefault(self.alias, ConnectionPool(connect, **options))
        return self._connection_pools[self.alias]

    def close_if_health_check_failed(self) -> None:
        """Called by Django before each statement, and before and after each transaction: what is committed must not
        fail for want of another connection."""
        is_between = self.autocommit and not self.in_atomic_block
        if self.connection is not None and is_between and is_dead(self.connection):
            self.close()
