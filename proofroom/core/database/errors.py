"""Database outages, and the messages for callers."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

import psycopg
from django.db import InterfaceError, OperationalError

from proofroom.core.minute_throttle import MinuteTimer

logger = logging.getLogger(__name__)
RETRY_AFTER_SECONDS: Final = 5
UNAVAILABLE: Final = "unavailable"
UNAVAILABLE_MESSAGE: Final = (
    "The database cannot be reached just now. Nothing was changed; try again in a moment."
)
TABLES_CHANGED_MESSAGE: Final = (
    "The database was upgraded during this request. Nothing was changed; try again in a moment."
)
OUTCOME_UNKNOWN: Final = "outcome_unknown"
OUTCOME_UNKNOWN_MESSAGE: Final = (
    "The connection to the database was lost while the change was stored. It may have been done: look before you "
    "repeat it."
)
_NO_CONNECTION: Final = ("08", "57P", "53300")
"""Prefixes of PostgreSQL's SQLSTATE codes: connection errors, server shutdown or startup, too many connections."""
DATABASE_UNREACHABLE: Final = (OperationalError, InterfaceError)
"""Errors that are not caused by an item: background jobs stop, and the sweep resumes them later."""


class CommitInterrupted(OperationalError):
    """The connection was lost during COMMIT. The changes may or may not be stored."""


class TablesChanged(psycopg.OperationalError):
    """A migration changed a table in the middle of a transaction with an older plan. A retry gets a new plan."""


def is_database_unreachable(error: BaseException | None) -> bool:
    """Return whether the error or one of its causes means that PostgreSQL is unreachable.

    A concurrent migration counts, too: the caller can retry immediately.
    """
    while error is not None:
        if isinstance(error, psycopg.InterfaceError) and "connection" in str(error):
            return True
        # Errors of the client library have no SQLSTATE and are all about the connection.
        if isinstance(error, psycopg.OperationalError) and (
            error.sqlstate is None or error.sqlstate.startswith(_NO_CONNECTION)
        ):
            return True
        # Django wraps the driver's error in its own.
        error = error.__cause__ or error.__context__
    return False


@dataclass(frozen=True, slots=True)
class Outage:
    """The answer to callers during an outage. They should retry only if `is_repeatable` is True."""

    code: str
    message: str
    is_repeatable: bool


_NOTHING_CHANGED: Final = Outage(UNAVAILABLE, UNAVAILABLE_MESSAGE, is_repeatable=True)
_TABLES_CHANGED: Final = Outage(UNAVAILABLE, TABLES_CHANGED_MESSAGE, is_repeatable=True)
_OUTCOME_UNKNOWN: Final = Outage(OUTCOME_UNKNOWN, OUTCOME_UNKNOWN_MESSAGE, is_repeatable=False)


def describe_outage(error: BaseException | None) -> Outage:
    """Return what an error of an unreachable database means for the caller's change."""
    while error is not None:
        if isinstance(error, CommitInterrupted):
            return _OUTCOME_UNKNOWN
        if isinstance(error, TablesChanged):
            return _TABLES_CHANGED
        error = error.__cause__ or error.__context__
    return _NOTHING_CHANGED


_outage_logged: Final = MinuteTimer()


def log_database_unreachable(error: BaseException | None, what: str) -> None:
    """Log one line instead of a traceback per caller, because the fault is not in the code.

    One line a minute is an error, so that monitoring reports an outage but not each refused request.
    """
    level = logging.ERROR if _outage_logged.is_due() else logging.INFO
    text = " ".join(str(error).split())
    if describe_outage(error) is _TABLES_CHANGED:
        logger.log(level, "%s: a migration came between: %s", what, text)
    else:
        logger.log(level, "%s: the database cannot be reached: %s", what, text)
