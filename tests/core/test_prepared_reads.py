"""Prepared reads on PostgreSQL: the same rows and errors as with a cursor, after any previous event."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from typing import Any, cast
from uuid import uuid4

import pytest
from django.db import DatabaseError, DataError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from psycopg import adapters
from psycopg.pq import Format
from psycopg.types.json import Jsonb

from proofroom.core.database.postgresql import prepared_reads
from proofroom.core.database.postgresql.base import DatabaseWrapper
from proofroom.core.database.postgresql.prepared_reads import PreparedReads
from proofroom.core.database.postgresql.timestamps import DjangoLoader, UtcLoader
from proofroom.core.observability.operations import OperationKind, measure

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL"),
]
TIMESTAMPTZ_OID = adapters.types["timestamptz"].oid
VALUES = "SELECT %s::text, %s::int, %s::uuid, %s::jsonb, %s::bool, now(), '100%%'"


def read(sql: str, *parameters: Any) -> list[tuple[Any, ...]] | None:
    connection.ensure_connection()
    return cast(DatabaseWrapper, connection).read(sql, parameters)


def through_cursor(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def reads() -> PreparedReads:
    connection.ensure_connection()
    found: PreparedReads = connection.connection.reads
    return found


def test_values_come_and_go_as_through_a_cursor() -> None:
    given = ("é 🦆 %s $1", 7, uuid4(), Jsonb({"a": [1, None]}), True)
    sql = VALUES.replace("now()", "timestamptz '2026-01-02 03:04:05.678901+02'")

    for _ in range(2):
        assert read(sql, *given) == through_cursor(sql, *given)
    assert read("SELECT 1 WHERE false") == []
    assert read("SELECT %s::int, %s::text", None, None) == [(None, None)]


@pytest.mark.parametrize(
    "time",
    [
        "2026-01-02 03:04:05.678901+02",
        "2026-01-02 03:04:05.6789+00",
        "2026-07-02 03:04:05-11:30",
        "0001-01-01 00:00:00+00",
        "1893-03-31 23:59:59.999999+00:53:28",
        "9999-12-31 23:59:59.999999+00",
    ],
)
def test_times_are_what_django_reads(time: str) -> None:
    sql = f"SELECT timestamptz '{time}', timestamptz '{time}'::text"
    ((found, text),) = through_cursor(sql)

    assert found == DjangoLoader(TIMESTAMPTZ_OID, connection.connection).load(text.encode())
    assert found.tzinfo is UTC
    assert read(sql) == [(found, text)]
    with connection.cursor() as cursor:
        assert cursor.cursor.adapters.get_loader(TIMESTAMPTZ_OID, Format.TEXT) is UtcLoader


def test_times_of_a_session_elsewhere_are_what_django_reads() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET timezone TO 'Asia/Kathmandu'")
        try:
            ((found, text),) = through_cursor("SELECT now(), now()::text")
            expected = DjangoLoader(TIMESTAMPTZ_OID, connection.connection).load(text.encode())
        finally:
            cursor.execute("SET timezone TO 'UTC'")

    assert text.endswith("+05:45")
    assert found == expected


@pytest.mark.parametrize(
    "time", ["infinity", "-infinity", "10000-01-01 00:00:00+00", "0044-03-15 00:00:00+00 BC"]
)
def test_a_time_that_python_does_not_know_is_an_error_as_it_was(time: str) -> None:
    for ask in (read, through_cursor):
        with pytest.raises(DataError, match=r"too large|infinity|BC|year|before"):
            ask(f"SELECT timestamptz '{time}'")


def test_where_statements_are_logged_a_cursor_asks() -> None:
    assert read("SELECT 1") == [(1,)]
    with CaptureQueriesContext(connection):
        assert read("SELECT 1") is None
    assert read("SELECT 1") == [(1,)]


def test_a_read_begins_its_transaction_and_what_it_prepares_outlives_it() -> None:
    for number in range(2):
        with transaction.atomic():
            assert read("SELECT %s::int + 1, now()::text", number)[0][0] == number + 1
            [(began,)] = through_cursor("SELECT now()::text")
            assert read("SELECT %s::int + 1, now()::text", 6) == [(7, began)]
        assert reads().is_ready(in_transaction=False)

    kept = through_cursor("SELECT statement FROM pg_prepared_statements WHERE name LIKE 'read_%%'")
    assert kept.count(("SELECT $1::int + 1, now()::text",)) == 1


def test_a_transaction_goes_on_after_something_in_it_was_undone() -> None:
    """Psycopg drops all prepared statements after a rollback."""
    with transaction.atomic():
        assert read("SELECT %s::int", 1) == [(1,)]
        through_cursor("SELECT 'of psycopg'")
        with pytest.raises(DataError), transaction.atomic():
            read("SELECT 1 / %s", 0)
        assert read("SELECT %s::int", 2) == [(2,)]

        with pytest.raises(RuntimeError), transaction.atomic():
            raise RuntimeError
        assert read("SELECT %s::int", 3) == [(3,)]
    with transaction.atomic():
        assert read("SELECT %s::int", 4) == [(4,)]
        transaction.set_rollback(True)
    with transaction.atomic():
        assert read("SELECT %s::int", 5) == [(5,)]


def test_after_a_failed_statement_a_transaction_reads_nothing_more() -> None:
    with pytest.raises(DataError), transaction.atomic():
        read("SELECT 1 / %s", 0)
    with transaction.atomic():
        with pytest.raises(DataError):
            read("SELECT 1 / %s", 0)
        assert read("SELECT 1") is None
        transaction.set_rollback(True)
    assert read("SELECT 1") == [(1,)]


def test_whoever_wraps_statements_is_called_around_a_read() -> None:
    seen: list[tuple[str, Any, bool]] = []

    def look(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        seen.append((sql, parameters, many))
        return execute(sql, parameters, many, context)

    def refuse(*_: Any) -> Any:
        raise RuntimeError("no statement here")

    with connection.execute_wrapper(look):
        assert read("SELECT %s::int", 1) == [(1,)]
        with connection.execute_wrapper(refuse), pytest.raises(RuntimeError):
            read("SELECT 2")
    with measure(OperationKind.TASK, "canary") as operation:
        assert read("SELECT 3") == [(3,)]

    assert seen == [("SELECT %s::int", (1,), False), ("SELECT 2", (), False)]
    assert operation.statements == 1


def test_an_error_is_djangos_and_the_next_read_goes_on() -> None:
    with pytest.raises(DataError, match="division by zero"):
        read("SELECT 1 / %s", 0)
    with pytest.raises(DatabaseError, match="no_such_table"):
        read("SELECT * FROM no_such_table")

    assert read("SELECT 1 / %s", 1) == [(1,)]


def test_what_was_forgotten_is_prepared_again() -> None:
    assert read("SELECT %s::int", 1) == [(1,)]
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    assert read("SELECT %s::int", 2) == [(2,)]


def test_a_table_that_changed_is_read_as_it_is_now() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE changing (one int)")
        cursor.execute("INSERT INTO changing VALUES (1)")
    try:
        assert read("SELECT * FROM changing") == [(1,)]
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE changing ADD two text DEFAULT 'b'")

        assert read("SELECT * FROM changing") == [(1, "b")]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE changing")


def test_the_least_used_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_reads, "MAX_PREPARED", 3)
    connection.close()
    for number in (1, 2, 3, 1, 4, 5, 1):
        assert read(f"SELECT {number}") == [(number,)]

    kept = through_cursor("SELECT statement FROM pg_prepared_statements WHERE name LIKE 'read_%%'")
    assert {sql for (sql,) in kept} == {"SELECT 1", "SELECT 4", "SELECT 5"}
    assert len(reads()._names) == 3


def test_a_connection_that_ends_meanwhile_is_replaced_and_one_that_ends_under_a_read_is_an_error() -> (
    None
):
    connection.close()
    (own,) = read("SELECT pg_backend_pid()") or [()]
    through_cursor("SELECT pg_backend_pid()")
    _end_from_another(own[0])

    assert read("SELECT 1") == [(1,)]
    with pytest.raises(OperationalError):
        read("SELECT pg_terminate_backend(pg_backend_pid())")
    connection.close()
    assert read("SELECT 1") == [(1,)]


def _end_from_another(pid: int) -> None:
    from proofroom.core.database.postgresql.prepared_reads import ReadingConnection

    parameters = {**cast(DatabaseWrapper, connection).get_connection_params(), "autocommit": True}
    parameters.pop("pool", None)
    with ReadingConnection.connect(**parameters) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_read_of_a_thread_without_a_connection_leaves_its_own_in_the_pool() -> None:
    wrapper = cast(DatabaseWrapper, connection)
    connection.close()

    [(first,)] = wrapper.read("SELECT pg_backend_pid()", []) or [(0,)]
    with pytest.raises(DataError):
        wrapper.read("SELECT 1 / %s", [0])

    assert connection.connection is None
    assert wrapper.read("SELECT pg_backend_pid()", []) == [(first,)]
    assert read("SELECT pg_backend_pid()") == [(first,)]


def test_a_read_is_of_the_transaction_that_goes_on() -> None:
    wrapper = cast(DatabaseWrapper, connection)
    connection.close()

    with transaction.atomic():
        through_cursor("SELECT set_config('app.of_this', 'one', true)")
        asked = wrapper.read("SELECT current_setting('app.of_this', true)", [])

    assert asked == [("one",)]


def test_reads_without_a_held_connection_are_counted_in_a_thread_that_asked_nothing_before() -> (
    None
):
    def count_two() -> int:
        try:
            with measure(OperationKind.TASK, "a task") as measured:
                for _ in range(2):
                    cast(DatabaseWrapper, connection).read("SELECT 1", [])
                    connection.close()
            return measured.statements
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(count_two).result() == 2
