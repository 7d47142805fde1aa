"""The content version as this process last read it, to be relied on for a second.

Whoever reads the version anyway renews it, so that a busy process asks the database once a second, and an idle one
never. A write of this process ends it with its commit, and one of another process where this one is told of it.
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
    """The content version with what tells it from the same number of another history: since when it is that number,
    and the `epoch` of the database.

    Caches are keyed by all of it. A standby that is promoted without the last transactions of its primary gives their
    numbers a second time. `moved_at` is None where nothing was ever written; of the epoch "" nothing is known.
    """

    version: int
    moved_at: datetime | None
    epoch: str = ""

    @classmethod
    def parse(cls, text: str) -> LiveState:
        """Return the state that a statement has read as a text (`state_text`)."""
        number, day, time_of_day, epoch = text.split(" ", 3)
        return cls(int(number), parse_moment(day, time_of_day), epoch)

    def __str__(self) -> str:
        moment = self.moved_at.isoformat(" ") if self.moved_at is not None else "- -"
        return f"{self.version} {moment} {self.epoch}"


def parse_moment(day: str, time_of_day: str) -> datetime:
    """Return a moment that the database wrote as a text; SQLite leaves out that it is in UTC."""
    moment = datetime.fromisoformat(f"{day} {time_of_day}")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class VersionReading:
    """The beginning of a read of the version: what ends the lease while it goes on makes it worthless."""

    ends: int
    began_at: float


class VersionLease:
    """The state that this process last read, with the moment until when it may be taken for the present one."""

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
        """The state; None where it must be asked for."""
        if self._file.has_changed():
            self.end()
        return self._state if time.monotonic() < self._until else None

    def begin(self) -> VersionReading:
        """To be called before the version is read."""
        return VersionReading(self._ends, time.monotonic())

    def renew(self, reading: VersionReading, state: LiveState) -> None:
        """Rely on a state that was just read, but for what a transaction sees that only it may ever see.

        The latest reading counts, whatever its number: after a failover it may be lower. Beside a replica, which has
        it later, only one of its own.
        """
        if connection.in_atomic_block or has_replica() != reads_replica():
            return
        with self._lock:
            if reading.ends == self._ends and reading.began_at >= self._began_at:
                self._state, self._began_at = state, reading.began_at
                self._until = reading.began_at + LEASE_SECONDS

    def end(self) -> None:
        """Have the next one ask."""
        with self._lock:
            self._ends += 1
            self._until = 0.0

    def end_with_other_processes(self) -> None:
        """Have what other processes write end the lease at once, where the database tells of it."""
        if self._listening_process != os.getpid():
            self._listening_process = os.getpid()
            self._subscription = listen(CHANNEL, lambda payload: self.end(), lost=self.end)

    def end_on_commit(self) -> None:
        """End it here when the caller's transaction is committed.

        On PostgreSQL a trigger of the version's table tells the processes that listen.
        """
        waiting = (entry[1] for entry in connection.run_on_commit)
        if self.end not in waiting:
            transaction.on_commit(self.end, robust=True)

    def forget(self) -> None:
        """Forget the version too, and listen no more: for another database."""
        if self._subscription is not None:
            self._subscription.close()
        self._subscription, self._listening_process = None, 0
        self.end()
        self._state, self._began_at = None, 0.0


class DatabaseFile:
    """Whether anybody wrote to the SQLite file, asked of SQLite itself: two microseconds, and nobody waits.

    PostgreSQL has no such question; there the lease ends by itself.
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
            if self._process != os.getpid():  # a connection must not be carried across a fork
                self._process = os.getpid()
                self._connection = _open()
            if self._connection is None:
                return False
            seen = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
            has_changed, self._seen = seen != self._seen, seen
            return has_changed


def _open() -> sqlite3.Connection | None:
    """A connection of its own, since SQLite tells a connection nothing of what it wrote itself."""
    name = str(connection.settings_dict["NAME"])
    if name.startswith("file:") or not os.path.isfile(name):
        return None
    return sqlite3.connect(name, check_same_thread=False, isolation_level=None)


lease: Final = VersionLease()
