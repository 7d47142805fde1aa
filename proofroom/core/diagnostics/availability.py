"""Checks that the database can be reached, and answers requests while it cannot."""

from __future__ import annotations

import logging
from typing import Final

import psycopg
from django.conf import settings
from django.core.cache import cache
from django.db import Error, connection

from proofroom.core.json import JsonObject

logger = logging.getLogger(__name__)
RETRY_AFTER_SECONDS: Final = 5
UNAVAILABLE: Final = "unavailable"
UNAVAILABLE_MESSAGE: Final = (
    "The database cannot be reached just now. Nothing was changed; try again in a moment."
)
_NO_CONNECTION: Final = ("08", "57P", "53300")
"""The beginnings of PostgreSQL's codes: the connection broke, the server stops or starts, it is full."""


def is_database_away(error: BaseException | None) -> bool:
    """Return whether the error, or one that it followed from, says that PostgreSQL cannot be reached."""
    while error is not None:
        if _is_about_connection(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_about_connection(error: BaseException) -> bool:
    if isinstance(error, psycopg.InterfaceError):
        return "connection" in str(error)
    if not isinstance(error, psycopg.OperationalError):
        return False
    # The client's own errors have no code: they are all about the connection.
    return error.sqlstate is None or error.sqlstate.startswith(_NO_CONNECTION)


def log_database_away(error: BaseException | None, what: str) -> None:
    """One line in place of a traceback for each caller: the fault is not in the code."""
    logger.error("%s: the database cannot be reached: %s", what, " ".join(str(error).split()))


def list_unreachable() -> list[str]:
    """Return what cannot be reached: `database`, `redis`. Takes about two seconds each at the longest."""
    found = []
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        logger.warning("the database cannot be reached: %s", " ".join(str(error).split()))
        found.append("database")
    if settings.CMS_ENV.redis_url:
        cache.set("proofroom.core.diagnostics.availability", "1", 10)
        if cache.get("proofroom.core.diagnostics.availability") != "1":
            found.append("redis")
    return found


def readiness() -> tuple[int, JsonObject]:
    """Status and body of `/health/ready`. Without Redis the site still answers, so only the database counts."""
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
