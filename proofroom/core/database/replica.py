"""Public reads from a replica, where `DATABASE_REPLICA_URL` names one.

A replica is a little late, so what is read from it is kept under the content version that it has itself. A change is
never missed: it is seen when the replica has it.
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

REPLICA: Final = "replica"
LEAVE_ALONE_SECONDS: Final = 5.0
"""After an attempt that failed, the database answers itself for so long."""
_alias: ContextVar[str] = ContextVar("reading_alias", default=DEFAULT_DB_ALIAS)
_log = logging.getLogger(__name__)
_away_until = 0.0


def has_replica() -> bool:
    return REPLICA in settings.DATABASES


def reads_replica() -> bool:
    """Whether reads go to the replica here."""
    return _alias.get() == REPLICA


def reading_connection() -> BaseDatabaseWrapper:
    """The connection that statements of their own read from."""
    return connections[_alias.get()]


@contextmanager
def from_replica() -> Iterator[None]:
    """Read from the replica within the block; from the database itself where there is none, or it does not answer."""
    if not has_replica() or not _answers():
        yield
        return
    token = _alias.set(REPLICA)
    try:
        yield
    finally:
        _alias.reset(token)


def _answers() -> bool:
    global _away_until
    if time.monotonic() < _away_until:
        return False
    try:
        connections[REPLICA].ensure_connection()
    except OperationalError as error:
        _away_until = time.monotonic() + LEAVE_ALONE_SECONDS
        _log.warning("The replica does not answer, the database does instead: %s", error)
        return False
    return True


class ReplicaRouter:
    """Django's way to say which database a query goes to."""

    def db_for_read(self, model: type[Any], **hints: Any) -> str:
        return _alias.get()

    def db_for_write(self, model: type[Any], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Any, second: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS
