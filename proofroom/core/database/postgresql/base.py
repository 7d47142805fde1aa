"""The backend: Django's own with another pool, and with a look at a connection before it is used again."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Any, ClassVar, Final

import psycopg
from django.core.exceptions import SynchronousOnlyOperation
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import InterfaceError, OperationalError
from psycopg.pq import TransactionStatus

from proofroom.core.database.event_loop_reads import WouldBlock, longest_wait
from proofroom.core.database.faults import CommitInterrupted
from proofroom.core.database.postgresql.answer_watch import answer_watch
from proofroom.core.database.postgresql.prepared_reads import ReadingConnection
from proofroom.core.database.postgresql.timestamps import utc_adapters

Connection = psycopg.Connection[Any]

SLOW_SECONDS: Final = 0.5
LEAVE_ALONE_SECONDS: Final = 1.0
"""After an attempt that failed slowly, others fail at once for so long: a server that does not answer at all would
else hold one caller after the other."""

SILENCE_SECONDS: Final = 5.0
"""The same after a server took a question and said nothing (`answer_watch`)."""


def is_dead(connection: Connection) -> bool:
    """Return whether an idle connection has ended. Asks the operating system only, which takes microseconds.

    The server says nothing to a connection that asks nothing, except that it ends.
    """
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


class ConnectionPool:
    """Up to `max_size` connections, which `connect` opens when they are needed. The last one given back goes first.

    Has the methods that Django calls on its pools.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        max_size: int = 10,
        timeout: float = 10.0,
        max_idle: float = 600.0,
    ) -> None:
        self._connect = connect
        self._max_size = max_size
        self._timeout = timeout
        self._max_idle = max_idle
        self._free = BoundedSemaphore(max_size)
        self._lock = Lock()
        self._idle: deque[tuple[Connection, float]] = deque()
        self._is_closed = False
        self._left_alone_until = 0.0

    def open(self) -> None:
        """Nothing to do: connections are opened by whoever needs one."""

    def getconn(self) -> Connection:
        """A connection that lives. Raises `psycopg.OperationalError` where none can be had."""
        if not self._free.acquire(timeout=self._timeout):
            raise psycopg.OperationalError(
                f"all {self._max_size} connections of this process are in use"
            )
        return self._lend(lambda: self._take_idle() or self._open_one())

    def idle_connection(self) -> Connection:
        """One that can be had without waiting. Raises `WouldBlock` where there is none."""
        if not self._free.acquire(blocking=False):
            raise WouldBlock
        return self._lend(self._take_idle)

    def _lend(self, take: Callable[[], Connection | None]) -> Connection:
        """What `take` finds, after a place for it was acquired. Raises `WouldBlock` where that is nothing."""
        try:
            connection = take()
            if connection is None:
                raise WouldBlock
        except BaseException:
            self._free.release()
            raise
        # Django gives it back to the pool that it names; psycopg's type knows only its own kind.
        connection._pool = self  # type: ignore[assignment]
        return connection

    def putconn(self, connection: Connection) -> None:
        """Take a connection back, and keep it where it may serve somebody else."""
        connection._pool = None
        try:
            is_kept = not self._is_closed and _is_clean(connection)
            if is_kept:
                self._left_alone_until = 0.0  # it answered
                self._keep(connection)
            else:
                connection.close()
        finally:
            self._free.release()

    def close(self) -> None:
        """Close what is idle now, and the rest when it comes back."""
        self._is_closed = True
        self._close_idle()

    def leave_alone(self) -> None:
        """Called when the server said nothing: open no connection for a while, and use none of before."""
        self._left_alone_until = time.monotonic() + SILENCE_SECONDS
        self._close_idle()

    def _close_idle(self) -> None:
        with self._lock:
            idle = [connection for connection, _ in self._idle]
            self._idle.clear()
        for connection in idle:
            connection.close()

    def _take_idle(self) -> Connection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, _ = self._idle.pop()
            if not is_dead(connection):
                return connection
            connection.close()

    def _open_one(self) -> Connection:
        begin = time.monotonic()
        if begin < self._left_alone_until:
            raise psycopg.OperationalError("PostgreSQL did not answer a moment ago")
        try:
            return self._connect()
        except psycopg.OperationalError:
            end = time.monotonic()
            if end - begin > SLOW_SECONDS:
                self._left_alone_until = end + LEAVE_ALONE_SECONDS
            raise

    def _keep(self, connection: Connection) -> None:
        now = time.monotonic()
        with self._lock:
            self._idle.append((connection, now))
            # Those that nobody needed for long are at the other end.
            old = []
            while now - self._idle[0][1] > self._max_idle:
                old.append(self._idle.popleft()[0])
        for one in old:
            one.close()


def _is_clean(connection: Connection) -> bool:
    """Return whether it is idle and lives, after taking back a transaction that was left open."""
    status = connection.pgconn.transaction_status
    if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            connection.rollback()
        except psycopg.Error:
            return False
        status = connection.pgconn.transaction_status
    return status == TransactionStatus.IDLE and not is_dead(connection)


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
            parameters = {**self.get_connection_params(), "autocommit": True}

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
