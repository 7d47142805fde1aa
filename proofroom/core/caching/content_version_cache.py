"""The content version as this process last read it, trusted for a second.

Every read of the version renews the lease, so that a busy process queries the database once a second, and an idle one
never. A write of this process ends the lease at its commit; a write of another process ends it by a notification.
"""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Final

from django.db import connection, transaction

from proofroom.core.database.replica import has_replica, reads_replica
from proofroom.core.database_notifications import Subscription, listen

LEASE_SECONDS: Final = 1.0
CHANNEL: Final = "content_version"


@dataclass(frozen=True, slots=True)
class LiveState:
    """The content version, and what distinguishes equal numbers of different histories: time and `epoch`.

    Caches use all of it as their key. A promoted standby that lacks the last transactions of its primary reuses their
    numbers. `moved_at` is None if there was never a live change; the epoch "" is unknown.
    """

    version: int
    moved_at: datetime | None
    epoch: str = ""

    @classmethod
    def parse(cls, text: str) -> LiveState:
        """Parse a state that was read as text (`state_text`)."""
        # The time itself contains a space.
        number, day, time_of_day, epoch = text.split(" ", 3)
        return cls(int(number), parse_moment(day, time_of_day), epoch)

    def __str__(self) -> str:
        moment = self.moved_at.isoformat(" ") if self.moved_at is not None else "- -"
        return f"{self.version} {moment} {self.epoch}"


def parse_moment(day: str, time_of_day: str) -> datetime:
    """Parse a time that the database returned as text. SQLite's has no zone and is UTC."""
    moment = datetime.fromisoformat(f"{day} {time_of_day}")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class VersionReading:
    """The start of a read of the version. It is void if the lease ended in the meantime."""

    ends: int
    began_at: float


class ContentVersionCache:
    """The last state read by this process, and the time until which it is trusted."""

    def __init__(self) -> None:
        self._state: LiveState | None = None
        self._began_at = 0.0
        self._until = 0.0
        self._ends = 0
        self._listening_process = 0
        self._subscription: Subscription | None = None
        self._lock = Lock()
        self._file = DatabaseFile()

    def current(self) -> LiveState | None:
        """Return the state; None if it must be read again."""
        if self._file.has_changed():
            self.end()
        return self._state if time.monotonic() < self._until else None

    def begin(self) -> VersionReading:
        """Start a read of the version. Call it before the query."""
        return VersionReading(self._ends, time.monotonic())

    def renew(self, reading: VersionReading, state: LiveState) -> None:
        """Trust a state that was just read, except inside a transaction, whose changes may be rolled back.

        The latest read counts, even with a lower number: after a failover it may be lower. If there is a replica,
        only reads from it count, because it lags behind.
        """
        if connection.in_atomic_block or has_replica() != reads_replica():
            return
        with self._lock:
            if reading.ends == self._ends and reading.began_at >= self._began_at:
                self._state, self._began_at = state, reading.began_at
                self._until = reading.began_at + LEASE_SECONDS

    def end(self) -> None:
        """End the lease, so that the next caller reads the version."""
        with self._lock:
            self._ends += 1
            self._until = 0.0

    def subscribe_to_invalidation(self) -> None:
        """Also end the lease when other processes write, if the database can notify this process."""
        if self._listening_process != os.getpid():
            self._listening_process = os.getpid()
            self._subscription = listen(CHANNEL, lambda payload: self.end(), lost=self.end)

    def end_on_commit(self) -> None:
        """End the lease when the caller's transaction commits.

        On PostgreSQL a trigger on the version's table notifies the listening processes.
        """
        # Several changes in one transaction need only one call.
        waiting = (entry[1] for entry in connection.run_on_commit)
        if self.end not in waiting:
            transaction.on_commit(self.end, robust=True)

    def forget(self) -> None:
        """Forget the state and stop listening, to change to another database."""
        if self._subscription is not None:
            self._subscription.close()
        self._subscription, self._listening_process = None, 0
        self.end()
        self._state, self._began_at = None, 0.0


class DatabaseFile:
    """Detects writes to the SQLite file by any process, in about two microseconds.

    PostgreSQL has no such file; there notifications end the lease, or it expires.
    """

    def __init__(self) -> None:
        self._process = 0
        self._connection: sqlite3.Connection | None = None
        self._seen = 0
        self._lock = Lock()

    def has_changed(self) -> bool:
        if connection.vendor != "sqlite":
            return False
        with self._lock:
            if self._process != os.getpid():  # a connection must not be used after a fork
                self._process = os.getpid()
                self._connection = _open()
            if self._connection is None:
                return False
            seen = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
            has_changed, self._seen = seen != self._seen, seen
            return has_changed


def _open() -> sqlite3.Connection | None:
    """Open a separate connection: `data_version` does not change for a connection's own writes."""
    name = str(connection.settings_dict["NAME"])
    # In-memory databases, as in tests, have no file.
    if name.startswith("file:") or not os.path.isfile(name):
        return None
    # All threads use it, one at a time under the lock.
    return sqlite3.connect(name, check_same_thread=False, isolation_level=None)


lease: Final = ContentVersionCache()
