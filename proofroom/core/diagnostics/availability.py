"""Checks that the database can be reached, and answers requests while it cannot."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Final

import psycopg
from django.conf import settings
from django.core.cache import cache
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection, connections

from proofroom.core.database.faults import CommitInterrupted
from proofroom.core.database.replica import REPLICA, has_replica
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject
from proofroom.core.once_a_minute import OnceAMinute

logger = logging.getLogger(__name__)
RETRY_AFTER_SECONDS: Final = 5
STORAGE_CHECK_SECONDS: Final = 10.0
CHECK_SECONDS: Final = 2.0
MIN_FREE_BYTES: Final = 16 * 2**20
"""A disk with less is full: the next upload or message may not fit."""
UNAVAILABLE: Final = "unavailable"
UNAVAILABLE_MESSAGE: Final = (
    "The database cannot be reached just now. Nothing was changed; try again in a moment."
)
OUTCOME_UNKNOWN: Final = "outcome_unknown"
OUTCOME_UNKNOWN_MESSAGE: Final = (
    "The connection to the database was lost while the change was stored. It may have been done: look before you "
    "repeat it."
)
file_users: Final[ExtensionPoint[Callable[[], bool]]] = ExtensionPoint()
"""Tell whether files were stored: each asks its own rows."""
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


@dataclass(frozen=True, slots=True)
class Outage:
    """What callers are told while the database is away. Only what `is_repeatable` asks them to try again."""

    code: str
    message: str
    is_repeatable: bool


_NOTHING_CHANGED: Final = Outage(UNAVAILABLE, UNAVAILABLE_MESSAGE, is_repeatable=True)
_MAY_BE_DONE: Final = Outage(OUTCOME_UNKNOWN, OUTCOME_UNKNOWN_MESSAGE, is_repeatable=False)


def describe_outage(error: BaseException | None) -> Outage:
    """Return what an error of a database that is away means for what was to be changed."""
    while error is not None:
        if isinstance(error, CommitInterrupted):
            return _MAY_BE_DONE
        error = error.__cause__ or error.__context__
    return _NOTHING_CHANGED


_outage_logged: Final = OnceAMinute()


def log_database_away(error: BaseException | None, what: str) -> None:
    """One line in place of a traceback for each caller: the fault is not in the code.

    Of many, one a minute is an error: what watches the log hears of an outage, and not of each refused request.
    """
    level = logging.ERROR if _outage_logged.is_due() else logging.INFO
    said = " ".join(str(error).split())
    logger.log(level, "%s: the database cannot be reached: %s", what, said)


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


def _ask_replica() -> bool:
    try:
        with connections[REPLICA].cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connections[REPLICA].close()
    return True


def _ask_redis() -> bool:
    cache.set("proofroom.core.diagnostics.availability", "1", 10)
    return bool(cache.get("proofroom.core.diagnostics.availability") == "1")


def has_room(folder: Path) -> bool:
    """Return whether the disk of a folder has room left. Raises `OSError` where there is no such folder.

    One that does not tell its size, as some over the network, counts as having room.
    """
    disk = os.statvfs(folder)
    return not disk.f_blocks or disk.f_bavail * disk.f_frsize >= MIN_FREE_BYTES


def _takes_files(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and has_room(folder)


def _ask_queue() -> bool:
    return _takes_files(settings.DATA_DIR / "queue")


def _media_folder() -> Path | None:
    """Where files are, unless they are in a bucket."""
    if isinstance(default_storage, FileSystemStorage):
        return Path(default_storage.location)
    return None


def _ask_storage() -> bool:
    folder = _media_folder()
    if folder is not None:
        # The first upload makes the folder.
        return _takes_files(folder if folder.exists() else folder.parent)
    default_storage.exists("health")
    return True


def _ask_folder() -> bool:
    """Whether the folder of files is there, if it held any: else it is a volume that nobody mounted."""
    folder = _media_folder()
    if folder is None or folder.exists():
        return True
    return not (folder.is_symlink() or any(has_files() for has_files in file_users))


class StorageCheck:
    """Whether files can be stored, asked at most once in `STORAGE_CHECK_SECONDS`: a bucket is paid by the call."""

    def __init__(self) -> None:
        self._checked_at: float | None = None
        self._is_reachable = True
        self._lock = Lock()
        self._check = BoundedCheck("storage", _ask_storage)

    def is_reachable(self) -> bool:
        """Return the last finding, or a new one where that is old."""
        with self._lock:
            now = time.monotonic()
            if self._checked_at is None or now - self._checked_at >= STORAGE_CHECK_SECONDS:
                self._checked_at = now
                self._is_reachable = self._check.wait(self._check.begin())
            return self._is_reachable


database_check: Final = BoundedCheck("database", _ask_database)
_replica: Final = BoundedCheck("replica", _ask_replica)
_redis: Final = BoundedCheck("redis", _ask_redis)
_queue: Final = BoundedCheck("queue", _ask_queue)
_storage: Final = StorageCheck()
_folder: Final = BoundedCheck("folder of files", _ask_folder)


def list_unreachable() -> list[str]:
    """Return what cannot be reached: `database`, `replica`, `redis`, `queue`, `storage`.

    Takes two seconds at the longest, as all are asked at once. With Redis the queue is in it, and not named besides.
    """
    end = time.monotonic() + CHECK_SECONDS
    checks = [database_check, _redis if settings.CMS_ENV.redis_url else _queue]
    if has_replica():
        checks.insert(1, _replica)
    begun = [(check, check.begin()) for check in checks]
    folder = _folder.begin()
    is_stored = _storage.is_reachable()
    gone = [check.name for check, asked in begun if not check.wait(asked, end - time.monotonic())]
    if is_stored and database_check.name not in gone:  # which says whether there are files
        is_stored = _folder.wait(folder, end - time.monotonic())
    return gone if is_stored else [*gone, "storage"]


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
