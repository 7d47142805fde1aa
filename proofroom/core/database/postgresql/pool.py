"""A pool of connections that looks at each before it lends it again."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable
from threading import BoundedSemaphore, Lock
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus

from proofroom.core.database.event_loop_reads import WouldBlock

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
        self._renewed_at = -1.0

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
            is_kept = (
                not self._is_closed and not self._is_outdated(connection) and _is_clean(connection)
            )
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

    def renew(self) -> None:
        """Called when a migration changed a table: use no connection of before, with its prepared statements."""
        self._renewed_at = time.monotonic()
        self._close_idle()

    def _is_outdated(self, connection: Connection) -> bool:
        # One of ours knows; another kind has no plans of before.
        return getattr(connection, "opened_at", self._renewed_at + 1) <= self._renewed_at

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
