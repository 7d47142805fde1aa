"""A time limit for answers of PostgreSQL in web processes.

The operating system detects a lost machine, but not a server that accepts queries and never answers, such as a frozen
one behind a proxy. Callers would wait until no thread is left. The watch shuts down such connections, so that callers
get a connection error.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

import psycopg

from proofroom.core.observability.background_loop import BackgroundLoop

if TYPE_CHECKING:
    from proofroom.core.database.postgresql.connection import PooledConnection

logger: Final = logging.getLogger(__name__)
LOOK_SECONDS: Final = 0.5
WEB_LIMITS: Final = {"default": 30.0, "replica": 5.0}
"""Seconds. Shorter for the replica, because the database can answer instead."""


class AnswerWatch:
    """Watches the limited connections of this process in a thread, which starts with the first of them."""

    def __init__(self) -> None:
        self.limits: dict[str, float] = {}
        """Seconds by the alias of a database. No limits if empty."""
        self._connections: WeakSet[PooledConnection] = WeakSet()
        self._process = 0
        self._lock = Lock()

    def add(self, connection: PooledConnection, alias: str) -> None:
        """Watch a connection if its database has a limit."""
        connection.answer_seconds = self.limits.get(alias)
        if connection.answer_seconds is None:
            return
        with self._lock:
            self._connections.add(connection)
            if self._process != os.getpid():  # threads don't survive a fork
                self._process = os.getpid()
                BackgroundLoop("answer-watch", self._look_later).start()

    def _look_later(self) -> bool:
        time.sleep(LOOK_SECONDS)
        self.look()
        return True

    def look(self) -> None:
        """Shut down connections with an overdue answer."""
        with self._lock:
            connections = list(self._connections)
        now = time.monotonic()
        for connection in connections:
            asked_at, limit = connection.asked_at, connection.answer_seconds
            if asked_at is not None and limit is not None and now - asked_at > limit:
                _end(connection, limit)


def _end(connection: PooledConnection, limit: float) -> None:
    logger.error("no answer from PostgreSQL for %g seconds; closing the connection", limit)
    # Otherwise the next look would end it again.
    connection.asked_at = None
    pool = connection.pool
    if pool is not None:
        pool.leave_alone()
    try:
        # Shut down a duplicate of the socket: the waiting thread still uses the connection, and
        # closes it.
        with socket.socket(fileno=os.dup(connection.pgconn.socket)) as duplicate:
            duplicate.shutdown(socket.SHUT_RDWR)
    except (OSError, psycopg.Error) as error:
        logger.info("the connection was already closed: %s", error)


answer_watch: Final = AnswerWatch()
