"""The content version as this process last read it, to be relied on for a second.

Whoever reads the version anyway renews it, so that a busy process asks the database once a second, and an idle one
never. A write of this process ends it with its commit, and one of another process where this one is told of it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Final

from django.db import connection, transaction

from proofroom.core.database.replica import has_replica, reads_replica
from proofroom.core.database_notifications import Subscription, listen

LEASE_SECONDS: Final = 1.0
CHANNEL: Final = "content_version"


@dataclass(frozen=True, slots=True)
class LiveState:
    """The content version, and since when it is that; None where nothing was ever written.

    Versions of another `epoch` are those of another database, whatever their numbers; of "" nothing is known.
    """

    version: int
    moved_at: datetime | None
    epoch: str = ""


@dataclass(frozen=True, slots=True)
class VersionReading:
    """The beginning of a read of the version: what ends the lease while it goes on makes it worthless."""

    ends: int
    began_at: float


class VersionLease:
    """A version with the moment until when it may be taken for the present one."""

    def __init__(self) -> None:
        self._version = 0
        self._state: LiveState | None = None
        self._until = 0.0
        self._ends = 0
        self._listening_process = 0
        self._subscription: Subscription | None = None
        self._lock = Lock()
        self._file = DatabaseFile()

    def current(self) -> int | None:
        """The version; None where it must be asked for."""
        if self._file.has_changed():
            self.end()
        return self._version if time.monotonic() < self._until else None

    def current_state(self) -> LiveState | None:
        """The version with its moment; None where it must be asked for."""
        state = self._state
        return state if state is not None and state.version == self.current() else None

    def begin(self) -> VersionReading:
        """To be called before the version is read."""
        return VersionReading(self._ends, time.monotonic())

    def renew(self, reading: VersionReading, version: int, state: LiveState | None = None) -> None:
        """Rely on a version that was just read, but for what a transaction sees that only it may ever see.

        `state` is the version with its moment, where that was read too. Beside a replica, which has it later, only
        on its own.
        """
        if connection.in_atomic_block or has_replica() != reads_replica():
            return
        with self._lock:
            if reading.ends == self._ends and version >= self._version:
                self._version = version
                self._state = state or self._state
                self._until = max(self._until, reading.began_at + LEASE_SECONDS)

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
        self._version, self._state = 0, None


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
