"""Checks that the database can be reached, and answers requests while it cannot."""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import Future
from pathlib import Path
from threading import Lock, Thread
from typing import Final

import psycopg
from django.conf import settings
from django.core.cache import cache
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import Error, connection

from proofroom.core.json import JsonObject

logger = logging.getLogger(__name__)
RETRY_AFTER_SECONDS: Final = 5
STORAGE_CHECK_SECONDS: Final = 10.0
STORAGE_TIMEOUT_SECONDS: Final = 2.0
UNAVAILABLE: Final = "unavailable"
UNAVAILABLE_MESSAGE: Final = (
    "The database cannot be reached just now. Nothing was changed; try again in a moment."
)
_NO_CONNECTION: Final = ("08", "57P", "53300")
"""The beginnings of PostgreSQL's codes: the connection broke, the server stops or starts, it is full."""


def is_database_away(error: BaseException | None) -> bool:
    """Return whether the error, or one that it followed from, says that PostgreSQL cannot be reached."""
    while error is not None:
        if isinstance(error, psycopg.InterfaceError) and "connection" in str(error):
            return True
        # The client's own errors have no code: they are all about the connection.
        if isinstance(error, psycopg.OperationalError) and (
            error.sqlstate is None or error.sqlstate.startswith(_NO_CONNECTION)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def log_database_away(error: BaseException | None, what: str) -> None:
    """One line in place of a traceback for each caller: the fault is not in the code."""
    logger.error("%s: the database cannot be reached: %s", what, " ".join(str(error).split()))


def list_unreachable() -> list[str]:
    """Return what cannot be reached: `database`, `redis`, `queue`, `storage`.

    Takes about two seconds each at the longest. With Redis the queue is in it, and is not named besides.
    """
    found = []
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        logger.warning("the database cannot be reached: %s", " ".join(str(error).split()))
        found.append("database")
    if settings.CMS_ENV.redis_url:
        cache.set("proofroom.core.diagnostics.availability", "1", 10)
        if cache.get("proofroom.core.diagnostics.availability") != "1":
            found.append("redis")
    elif not os.access(settings.DATA_DIR / "queue", os.W_OK):
        logger.warning("the folder of the queue cannot be written")
        found.append("queue")
    if not _storage.is_reachable():
        found.append("storage")
    return found


class StorageCheck:
    """Whether files can be stored, asked at most once in `STORAGE_CHECK_SECONDS`: a bucket is paid by the call."""

    def __init__(self) -> None:
        self._checked_at: float | None = None
        self._is_reachable = True
        self._lock = Lock()

    def is_reachable(self) -> bool:
        """Return the last finding, or a new one where that is old. A storage that says nothing counts as away."""
        with self._lock:
            now = time.monotonic()
            if self._checked_at is None or now - self._checked_at >= STORAGE_CHECK_SECONDS:
                self._checked_at = now
                self._is_reachable = self._ask()
            return self._is_reachable

    def _ask(self) -> bool:
        if isinstance(default_storage, FileSystemStorage):
            folder = Path(default_storage.location)
            # The first upload makes the folder.
            return os.access(folder if folder.exists() else folder.parent, os.W_OK)
        asked: Future[bool] = Future()

        def ask() -> None:
            try:
                asked.set_result(default_storage.exists("health"))
            except Exception as error:  # whatever the storage's library raises
                asked.set_exception(error)

        # The library waits for a minute and tries again: nobody waits for that here.
        Thread(target=ask, name="storage-check", daemon=True).start()
        try:
            asked.result(timeout=STORAGE_TIMEOUT_SECONDS)
        except Exception as error:
            logger.warning("the storage of files cannot be reached: %s", type(error).__name__)
            return False
        return True


_storage: Final = StorageCheck()


def readiness() -> tuple[int, JsonObject]:
    """Status and body of `/health/ready`. Without the others the site still answers, so only the database counts."""
    gone = list_unreachable()
    if "database" not in gone:
        return 200, {"status": "degraded" if gone else "ready", "missing": [*gone]}
    return 503, {
        "status": UNAVAILABLE,
        "missing": [*gone],
        "error": f"Cannot be reached: {', '.join(gone)}.",
        "code": UNAVAILABLE,
        "details": {name: ["It cannot be reached."] for name in gone},
    }
