"""Reachability of the site's services: database, replica, Redis or queue, storage."""

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

from proofroom.core.database.errors import UNAVAILABLE
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
"""Free bytes below which a disk counts as full: the next upload or message may not fit."""
file_users: Final[ExtensionPoint[Callable[[], bool]]] = ExtensionPoint()
"""Functions that return whether rows of their app have stored files."""


def _check_replica() -> bool:
    try:
        with connections[REPLICA].cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        # Each check runs in a new thread, whose connection would stay open.
        connections[REPLICA].close()
    return True


def _check_redis() -> bool:
    cache.set("proofroom.core.diagnostics.availability", "1", 10)
    return bool(cache.get("proofroom.core.diagnostics.availability") == "1")


def has_room(folder: Path) -> bool:
    """Return whether the disk of a folder has space left. Raises `OSError` if the folder does not exist.

    A file system that reports no size, such as some network file systems, counts as having space.
    """
    disk = os.statvfs(folder)
    return not disk.f_blocks or disk.f_bavail * disk.f_frsize >= MIN_FREE_BYTES


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and has_room(folder)


def _check_queue() -> bool:
    return _is_writable(settings.DATA_DIR / "queue")


def _media_folder() -> Path | None:
    """Return the folder of files; None if they are in a bucket."""
    if isinstance(default_storage, FileSystemStorage):
        return Path(default_storage.location)
    return None


def _check_storage() -> bool:
    folder = _media_folder()
    if folder is not None:
        # The first upload creates the folder.
        return _is_writable(folder if folder.exists() else folder.parent)
    default_storage.exists("health")
    return True


def _check_folder() -> bool:
    """Return whether the folder of files exists or never had files. Otherwise a volume is not mounted."""
    folder = _media_folder()
    if folder is None or folder.exists():
        return True
    return not (folder.is_symlink() or any(has_files() for has_files in file_users))


class StorageCheck:
    """A check of the storage, at most every `STORAGE_CHECK_SECONDS`, because each call to a bucket costs money."""

    def __init__(self) -> None:
        self._checked_at: float | None = None
        self._is_reachable = True
        self._lock = Lock()
        self._check = BoundedCheck("storage", _check_storage)

    def is_reachable(self) -> bool:
        """Return the last result, or a new one if it is too old."""
        with self._lock:
            now = time.monotonic()
            if self._checked_at is None or now - self._checked_at >= STORAGE_CHECK_SECONDS:
                self._checked_at = now
                self._is_reachable = self._check.wait(self._check.begin())
            return self._is_reachable


_replica: Final = BoundedCheck("replica", _check_replica)
_redis: Final = BoundedCheck("redis", _check_redis)
_queue: Final = BoundedCheck("queue", _check_queue)
_storage: Final = StorageCheck()
_folder: Final = BoundedCheck("folder of files", _check_folder)


def list_unreachable() -> list[str]:
    """Return the unreachable services: `database`, `replica`, `redis`, `queue`, `storage`.

    Takes at most two seconds, because the checks run in parallel. With Redis the queue is part of it and not listed.
    """
    end = time.monotonic() + CHECK_SECONDS
    checks = [database_check, _redis if settings.CMS_ENV.redis_url else _queue]
    if has_replica():
        checks.insert(1, _replica)
    begun = [(check, check.begin()) for check in checks]
    folder = _folder.begin()
    is_stored = _storage.is_reachable()
    unreachable = [
        check.name for check, asked in begun if not check.wait(asked, end - time.monotonic())
    ]
    if (
        is_stored and database_check.name not in unreachable
    ):  # whether files are stored is only known from the database
        is_stored = _folder.wait(folder, end - time.monotonic())
    return unreachable if is_stored else [*unreachable, "storage"]


def readiness() -> tuple[int, JsonObject]:
    """Return status and body of `/health/ready`.

    Only a lost database makes the site unready; without the rest it answers.
    """
    unreachable = list_unreachable()
    if "database" not in unreachable:
        return 200, {"status": "degraded" if unreachable else "ready", "missing": [*unreachable]}
    return 503, {
        "status": UNAVAILABLE,
        "missing": [*unreachable],
        "error": f"Cannot be reached: {', '.join(unreachable)}.",
        "code": UNAVAILABLE,
        "details": {name: ["It cannot be reached."] for name in unreachable},
    }
