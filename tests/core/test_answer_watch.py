"""PostgreSQL that accepts a query and never answers blocks no process forever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from proofroom.core.database.postgresql import answer_watch as module
from proofroom.core.database.postgresql.answer_watch import AnswerWatch
from proofroom.core.database.postgresql.connection import PooledConnection
from proofroom.core.database.postgresql.pool import ConnectionPool

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL"),
]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> AnswerWatch:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    watch = AnswerWatch()
    watch.limits["default"] = 0.05
    return watch


@pytest.fixture
def opened(watch: AnswerWatch) -> Iterator[PooledConnection]:
    parameters = connection.get_connection_params()
    with PooledConnection.connect(**{**parameters, "autocommit": True}) as one:
        yield one


def ask(one: PooledConnection, sql: str) -> list[tuple[Any, ...]]:
    return one.execute(sql).fetchall()


def test_an_answer_that_is_overdue_ends_the_connection(
    watch: AnswerWatch, opened: PooledConnection, caplog: pytest.LogCaptureFixture
) -> None:
    watch.add(opened, "default")

    with pytest.raises(psycopg.OperationalError):
        ask(opened, "SELECT 1 FROM pg_sleep(3)")

    assert opened.broken
    assert "no answer from PostgreSQL for 0.05 seconds" in caplog.text


def test_one_that_waits_for_nothing_stays_open(
    watch: AnswerWatch, opened: PooledConnection
) -> None:
    watch.limits["default"] = 60.0
    watch.add(opened, "default")

    assert ask(opened, "SELECT 1") == [(1,)]
    watch.limits["default"] = opened.answer_seconds = -1.0
    watch.look()
    opened.answer_seconds = None  # otherwise the thread of the watch ends the next query

    assert ask(opened, "SELECT 1") == [(1,)]


def test_without_a_limit_nothing_is_watched(watch: AnswerWatch, opened: PooledConnection) -> None:
    watch.add(opened, "another")
    opened.asked_at = -1000.0
    watch.look()

    assert ask(opened, "SELECT 1") == [(1,)]


def test_the_pool_leaves_the_server_alone_and_uses_no_connection_of_before(
    watch: AnswerWatch,
) -> None:
    parameters = connection.get_connection_params()

    def connect() -> PooledConnection:
        one = PooledConnection.connect(**{**parameters, "autocommit": True})
        one.pool = pool
        watch.add(one, "default")
        return one

    pool = ConnectionPool(connect)
    first, idle = pool.getconn(), pool.getconn()
    pool.putconn(idle)

    with pytest.raises(psycopg.OperationalError):
        ask(first, "SELECT 1 FROM pg_sleep(3)")
    pool.putconn(first)

    assert idle.closed
    with pytest.raises(psycopg.OperationalError, match="did not answer a moment ago"):
        pool.getconn()
    pool.close()
