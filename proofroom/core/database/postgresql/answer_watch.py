"""A limit of the time that PostgreSQL takes to answer, in processes that answer visitors.

The operating system notices a machine that is gone. One that takes questions and says nothing it does not notice,
such as a frozen one behind a proxy: each caller would wait for it, until no thread is left for anybody. The watch
ends such connections, so that who waits gets the error of a database that is away.
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
    from proofroom.core.database.postgresql.prepared_reads import ReadingConnection

logger: Final = logging.getLogger(__name__)
LOOK_SECONDS: Final = 0.5
WEB_LIMITS: Final = {"default": 30.0, "replica": 5.0}
"""Seconds: the database answers what the replica does not."""


class AnswerWatch:
    """Looks at the connections of this process that have a limit; a thread does, from the first of them on."""

    def __init__(self) -> None:
        self.limits: dict[str, float] = {}
        """Seconds by the alias of a database. Empty: nothing is limited."""
        self._connections: WeakSet[ReadingConnection] = WeakSet()
        self._process = 0
        self._lock = Lock()

    def add(self, connection: ReadingConnection, alias: str) -> None:
        """Limit what is asked on a connection, where its database has a limit."""
        connection.answer_seconds = self.limits.get(alias)
        if connection.answer_seconds is None:
            return
        with self._lock:
            self._connections.add(connection)
            if self._process != os.getpid():  # a thread is not carried across a fork
                self._process = os.getpid()
                BackgroundLoop("answer-watch", self._look_later).start()

    def _look_later(self) -> bool:
        time.sleep(LOOK_SECONDS)
        self.look()
        return True

    def look(self) -> None:
        """End the connections on which an answer is overdue."""
        with self._lock:
            connections = list(self._connections)
        now = time.monotonic()
        for connection in connections:
            asked_at, limit = connection.asked_at, connection.answer_seconds
            if asked_at is not None and limit is not None and now - asked_at > limit:
                _end(connection, limit)


def _end(connection: ReadingConnection, limit: float) -> None:
    logger.error("PostgreSQL said nothing for %g seconds; the connection is ended", limit)
    connection.asked_at = None
    pool = connection.pool
    if pool is not None:
        pool.leave_alone()
    try:
        # Not closed here: whoever waits for it still uses it, and closes it.
        with socket.socket(fileno=os.dup(connection.pgconn.socket)) as its_own:
            its_own.shutdown(socket.SHUT_RDWR)
    except (OSError, psycopg.Error) as error:
        logger.info("the connection had ended already: %s", error)


answer_watch: Final = AnswerWatch()
