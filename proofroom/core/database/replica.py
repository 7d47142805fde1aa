"""Public reads from a replica, if `DATABASE_REPLICA_URL` is set.

A replica lags a little, so what is read from it is cached under the content version that the replica itself has. A
change becomes visible when the replica has it; it is never missed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from proofroom.core.database.trial_writes import in_trial

REPLICA: Final = "replica"
LEAVE_ALONE_SECONDS: Final = 5.0
"""Pause after a failed connection, in which reads go to the primary database."""
_alias: ContextVar[str] = ContextVar("reading_alias", default=DEFAULT_DB_ALIAS)
_log = logging.getLogger(__name__)
_paused_until = 0.0


def has_replica() -> bool:
    return REPLICA in settings.DATABASES


def reads_replica() -> bool:
    """Return whether reads in this context use the replica."""
    return _alias.get() == REPLICA


def reading_connection() -> BaseDatabaseWrapper:
    """Return the connection for reads without the ORM."""
    return connections[_alias.get()]


@contextmanager
def from_replica() -> Iterator[None]:
    """Read from the replica in the block; from the primary if there is no replica or it does not answer."""
    if not has_replica() or in_trial() or not _is_reachable():
        yield
        return
    token = _alias.set(REPLICA)
    try:
        yield
    finally:
        _alias.reset(token)


def _is_reachable() -> bool:
    global _paused_until
    if time.monotonic() < _paused_until:
        return False
    try:
        connections[REPLICA].ensure_connection()
    except OperationalError as error:
        _paused_until = time.monotonic() + LEAVE_ALONE_SECONDS
        _log.warning("The replica does not answer; reading from the primary database: %s", error)
        return False
    return True


class ReplicaRouter:
    """Routes reads of a `from_replica` block to the replica and all else to the primary."""

    def db_for_read(self, model: type[Any], **hints: Any) -> str:
        return _alias.get()

    def db_for_write(self, model: type[Any], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Any, second: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS
