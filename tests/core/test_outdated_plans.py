"""PostgreSQL tables changed by a migration while processes hold prepared statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import psycopg
import pytest
from django.db import NotSupportedError, OperationalError, connection, transaction

from proofroom.core.api.exceptions import handle
from proofroom.core.database.errors import (
    TABLES_CHANGED_MESSAGE,
    describe_outage,
    is_database_unreachable,
)
from tests import make
from tests.api_client import ApiClient

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL"),
]
QUERY = "SELECT * FROM changing"


def ask(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def migrate(sql: str) -> None:
    """Change a table like another process: on a separate connection."""
    info = connection.connection.info
    with psycopg.connect(
        host=info.host, port=info.port, user=info.user, dbname=info.dbname, autocommit=True
    ) as other:
        other.execute(sql)


@pytest.fixture(autouse=True)
def changing() -> Iterator[None]:
    connection.ensure_connection()
    migrate("CREATE TABLE changing AS SELECT 1 AS one")
    yield
    connection.close()
    connection.ensure_connection()
    migrate("DROP TABLE changing")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("ALTER TABLE changing ADD two text DEFAULT 'b'", [(1, "b")]),
        ("ALTER TABLE changing ALTER one TYPE text", [("1",)]),
    ],
)
def test_outside_of_a_transaction_a_changed_table_is_read_as_it_is_now(
    change: str, found: list[tuple[Any, ...]]
) -> None:
    assert ask(QUERY) == [(1,)]

    migrate(change)

    for _ in range(2):
        assert ask(QUERY) == found


def test_a_transaction_that_begins_with_a_changed_table_goes_on() -> None:
    with transaction.atomic():
        assert ask(QUERY) == [(1,)]
    migrate("ALTER TABLE changing ADD two text DEFAULT 'b'")

    with transaction.atomic():
        assert ask(QUERY) == [(1, "b")]
        ask("UPDATE changing SET one = 2 RETURNING one")

    assert ask(QUERY) == [(2, "b")]


def test_later_in_a_transaction_nothing_is_changed_and_the_next_attempt_succeeds() -> None:
    def change() -> None:
        with transaction.atomic():
            ask("UPDATE changing SET one = one + 1 RETURNING one")
            ask(QUERY)

    change()
    migrate("ALTER TABLE changing ADD two text DEFAULT 'b'")

    with pytest.raises(OperationalError) as raised:
        change()

    assert is_database_unreachable(raised.value)
    outage = describe_outage(raised.value)
    assert (outage.message, outage.is_repeatable) == (TABLES_CHANGED_MESSAGE, True)
    answer = handle(raised.value, {})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert ask(QUERY) == [(2, "b")]
    change()
    assert ask(QUERY) == [(3, "b")]


def test_after_one_refusal_no_connection_of_the_process_has_an_old_plan() -> None:
    number = 3
    all_connected = Barrier(number)

    def read(wait: Callable[[], object]) -> list[tuple[Any, ...]]:
        try:
            with transaction.atomic():
                ask("SELECT 1")
                wait()
                return ask(QUERY)
        finally:
            connection.close()

    connection.close()
    with ThreadPoolExecutor(number) as threads:
        assert [*threads.map(read, [all_connected.wait] * number)] == [[(1,)]] * number
        connection.ensure_connection()
        migrate("ALTER TABLE changing ADD two text DEFAULT 'b'")
        connection.close()

        with pytest.raises(OperationalError):
            read(bool)
        assert [*threads.map(read, [all_connected.wait] * number)] == [[(1, "b")]] * number


def test_posts_are_read_and_changed_while_the_column_of_their_titles_changes() -> None:
    admin = ApiClient("admin")
    path = f"/api/posts/{make.post('Kettle').pk}"
    for title in ("Kettle", "Pot"):  # the second time with statements that are prepared
        admin.write("PUT", path, {"title": title})

    migrate("ALTER TABLE content_post ALTER title TYPE varchar(301)")
    try:
        assert admin.write("PUT", path, {"title": "Cup"})["title"] == "Cup"
        assert admin.read(path)["title"] == "Cup"
    finally:
        migrate("ALTER TABLE content_post ALTER title TYPE varchar(300)")
    assert admin.write("PUT", path, {"title": "Mug"})["title"] == "Mug"


def test_what_postgresql_cannot_do_is_an_error_as_before() -> None:
    with pytest.raises(NotSupportedError, match="cross-database"):
        ask("SELECT * FROM elsewhere.public.posts")
    assert ask(QUERY) == [(1,)]
