"""What the site stands on, and whether it can be reached: database, replica, Redis or queue, storage."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connections

from proofroom.core.database.faults import UNAVAILABLE
from proofroom.core.database.replica import REPLICA, has_replica
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject
from proofroom.core.observability.health_checks import (
    CHECK_SECONDS,
    BoundedCheck,
    database_check,
)

STORAGE_CHECK_SECONDS: Final = 10.0
MIN_FREE_BYTES: Final = 16 * 2**20
"""A disk with less is full: the next upload or message may not fit."""
file_users: Final[ExtensionPoint[Callable[[], bool]]] = ExtensionPoint()
"""Tell whether files were stored: each asks its own rows."""


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
