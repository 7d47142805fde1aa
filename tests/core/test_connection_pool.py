"""The pool of PostgreSQL connections: distribution, and fast detection of exhaustion."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from django.db.utils import InterfaceError, ProgrammingError

from proofroom.core.database.errors import is_database_unreachable
from proofroom.core.database.postgresql import pool as module
from proofroom.core.database.postgresql.pool import ConnectionPool


def failing(calls: list[str]) -> Callable[[], Any]:
    def connect() -> Any:
        calls.append("connect")
        raise psycopg.OperationalError("connection refused")

    return connect


def test_after_a_slow_failure_others_fail_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOW_SECONDS", -1.0)
    calls: list[str] = []
    connections = ConnectionPool(failing(calls))

    for _ in range(5):
        with pytest.raises(psycopg.OperationalError):
            connections.getconn()

    assert calls == ["connect"]


def test_after_a_quick_failure_the_next_one_tries_again() -> None:
    calls: list[str] = []
    connections = ConnectionPool(failing(calls), max_size=2)

    # More than the pool's size: each failure returns its slot.
    for _ in range(5):
        with pytest.raises(psycopg.OperationalError, match="refused"):
            connections.getconn()

    assert len(calls) == 5


@pytest.mark.services
def test_a_connection_that_answered_shows_that_the_server_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SLOW_SECONDS", -1.0)
    calls: list[str] = []
    fail = failing(calls)
    with psycopg.connect(os.environ["DATABASE_URL"]) as held:
        opened = [held]
        connections = ConnectionPool(lambda: opened.pop() if opened else fail())
        assert connections.getconn() is held
        for _ in range(2):
            with pytest.raises(psycopg.OperationalError):
                connections.getconn()
        assert calls == ["connect"]

        connections.putconn(held)

        assert connections.getconn() is held
        with pytest.raises(psycopg.OperationalError, match="refused"):
            connections.getconn()
        assert calls == ["connect"] * 2


def test_with_all_connections_in_use_the_next_one_is_refused() -> None:
    connections = ConnectionPool(lambda: type("Open", (), {})(), max_size=1, timeout=0)
    connections.getconn()

    with pytest.raises(psycopg.OperationalError, match="all 1 connections"):
        connections.getconn()


def raised(cause: BaseException, of: type[Exception] = OperationalError) -> BaseException:
    try:
        raise of("wrapped") from cause
    except Exception as error:
        return error


@pytest.mark.parametrize(
    ("error", "is_away"),
    [
        (raised(psycopg.OperationalError("the connection is closed")), True),
        (raised(psycopg.errors.AdminShutdown("terminating connection")), True),
        (raised(psycopg.errors.CannotConnectNow("starting up")), True),
        (raised(psycopg.errors.TooManyConnections("too many clients")), True),
        (raised(psycopg.InterfaceError("connection already closed"), InterfaceError), True),
        (raised(raised(psycopg.OperationalError("lost")), ProgrammingError), True),
        (raised(psycopg.errors.DeadlockDetected("deadlock")), False),
        (raised(psycopg.errors.QueryCanceled("time-out")), False),
        (raised(psycopg.errors.UniqueViolation("twice")), False),
        (OperationalError("database is locked"), False),
        (ValueError("connection"), False),
        (None, False),
    ],
    ids=repr,
)
def test_only_what_is_about_the_connection_means_that_the_database_is_away(
    error: BaseException | None, is_away: bool
) -> None:
    assert is_database_unreachable(error) is is_away
