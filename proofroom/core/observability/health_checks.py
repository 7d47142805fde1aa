"""Questions to what the site stands on, and whether it answers in time."""

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
    """Asks something whether it is there, and waits for at most two seconds.

    In a thread of its own: what takes a question and says nothing would hold its asker for ever. While one asks,
    others wait for the same answer.
    """

    def __init__(self, name: str, ask: Callable[[], bool]) -> None:
        self.name, self._ask = name, ask
        self._asked: Future[bool] | None = None
        self._lock = Lock()

    def begin(self) -> Future[bool]:
        """Ask, unless somebody does already."""
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                Thread(target=self._run, args=(self._asked,), name=self.name, daemon=True).start()
            return self._asked

    def wait(self, asked: Future[bool], seconds: float = CHECK_SECONDS) -> bool:
        """Whether it is there; an error, or no answer in time, is a no."""
        try:
            return asked.result(timeout=max(0.0, seconds))
        except Exception as error:  # whatever the library at hand raises
            said = " ".join(str(error).split()) or type(error).__name__
            logger.warning("the %s cannot be reached: %s", self.name, said)
            return False

    def _run(self, asked: Future[bool]) -> None:
        try:
            found = self._ask()
        except Exception as error:
            asked.set_exception(error)
        else:
            asked.set_result(found)
        finally:
            connection.close()


def _ask_database() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


database_check: Final = BoundedCheck("database", _ask_database)
