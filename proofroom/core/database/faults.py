"""Faults of the database that no row and no person caused, and what callers are told of them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

import psycopg
from django.db import InterfaceError, OperationalError

from proofroom.core.once_a_minute import OnceAMinute

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
"""The beginnings of PostgreSQL's codes: the connection broke, the server stops or starts, it is full."""
DATABASE_AWAY: Final = (OperationalError, InterfaceError)
"""The fault of no item: background work is left as it is, and the sweep goes on with it later."""


class CommitInterrupted(OperationalError):
    """The connection was lost while PostgreSQL was asked to commit: the changes may be stored or not."""


class TablesChanged(psycopg.OperationalError):
    """A migration changed a table that a transaction reads with a plan of before. The next attempt has a new plan."""


def is_database_away(error: BaseException | None) -> bool:
    """Return whether the error, or one that it followed from, says that PostgreSQL cannot be reached.

    A migration that comes between counts as well: the caller finds the database as soon as it asks again.
    """
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
_TABLES_CHANGED: Final = Outage(UNAVAILABLE, TABLES_CHANGED_MESSAGE, is_repeatable=True)
_MAY_BE_DONE: Final = Outage(OUTCOME_UNKNOWN, OUTCOME_UNKNOWN_MESSAGE, is_repeatable=False)


def describe_outage(error: BaseException | None) -> Outage:
    """Return what an error of a database that is away means for what was to be changed."""
    while error is not None:
        if isinstance(error, CommitInterrupted):
            return _MAY_BE_DONE
        if isinstance(error, TablesChanged):
            return _TABLES_CHANGED
        error = error.__cause__ or error.__context__
    return _NOTHING_CHANGED


_outage_logged: Final = OnceAMinute()


def log_database_away(error: BaseException | None, what: str) -> None:
    """One line in place of a traceback for each caller: the fault is not in the code.

    Of many, one a minute is an error: what watches the log hears of an outage, and not of each refused request.
    """
    level = logging.ERROR if _outage_logged.is_due() else logging.INFO
    said = " ".join(str(error).split())
    if describe_outage(error) is _TABLES_CHANGED:
        logger.log(level, "%s: a migration came between: %s", what, said)
    else:
        logger.log(level, "%s: the database cannot be reached: %s", what, said)
