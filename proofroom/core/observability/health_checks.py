"""Checks whether services answer in time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Final

from django.db import connection

logger = logging.getLogger(__name__)
CHECK_SECONDS: Final = 2.0


class BoundedCheck:
    """A check of a service that waits at most two seconds.

    It runs in a separate thread, because a service that accepts a request and never answers would block its caller
    forever. Concurrent callers share one check.
    """

    def __init__(self, name: str, ask: Callable[[], bool]) -> None:
        self.name, self._ask = name, ask
        self._running: Future[bool] | None = None
        self._lock = Lock()

    def begin(self) -> Future[bool]:
        """Start the check unless one is running."""
        with self._lock:
            if self._running is None or self._running.done():
                self._running = Future()
                Thread(target=self._run, args=(self._running,), name=self.name, daemon=True).start()
            return self._running

    def wait(self, future: Future[bool], seconds: float = CHECK_SECONDS) -> bool:
        """Return whether the service answered. An error or a timeout is False."""
        try:
            return future.result(timeout=max(0.0, seconds))
        except Exception as error:  # any exception of the client library
            message = " ".join(str(error).split()) or type(error).__name__
            logger.warning("cannot reach the %s: %s", self.name, message)
            return False

    def _run(self, future: Future[bool]) -> None:
        try:
            found = self._ask()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(found)
        finally:
            # Connections belong to threads, and this thread ends.
            connection.close()


def _query_database() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


database_check: Final = BoundedCheck("database", _query_database)
