"""Migrations wait for a table's lock for a limited time, because the site's requests wait behind them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, transaction

from proofroom.core.database import migrate

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL"),
]


@pytest.fixture(autouse=True)
def migrating(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(migrate, "LOCK_TIMEOUT_MS", 50)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE locked (id int)")
    migrate.begin(using=DEFAULT_DB_ALIAS)
    try:
        yield
    finally:
        migrate.end(using=DEFAULT_DB_ALIAS)
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE locked")


@pytest.fixture
def reader() -> Iterator[psycopg.Connection]:
    """Yield a transaction that has read the table."""
    info = connection.connection.info
    with psycopg.connect(
        host=info.host, port=info.port, user=info.user, dbname=info.dbname
    ) as other:
        other.execute("SELECT * FROM locked")
        yield other


def test_a_change_gives_up_behind_a_long_transaction(reader: psycopg.Connection) -> None:
    with (
        pytest.raises(OperationalError, match="lock timeout"),
        connection.schema_editor() as editor,
    ):
        editor.execute("ALTER TABLE locked ADD COLUMN extra int")

    reader.rollback()
    with connection.schema_editor() as editor:
        editor.execute("ALTER TABLE locked ADD COLUMN extra int")


def test_the_limit_ends_with_the_transaction() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE locked ADD COLUMN extra int")
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("50ms",)
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_only_migrations_are_limited(reader: psycopg.Connection) -> None:
    migrate.end(using=DEFAULT_DB_ALIAS)

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE other (id int)")
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)
        transaction.set_rollback(True)
