"""Operations that let readers and writers continue on PostgreSQL do the same as Django's plain ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from django.db import IntegrityError, connection, models
from django.db.migrations import Migration
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from proofroom.core.database.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    RunPostgreSQL,
    ValidateConstraint,
)

pytestmark = pytest.mark.django_db(transaction=True)
TABLE = "sample_thing"
INDEX = models.Index(fields=["amount"], name="sample_amounts")
POSITIVE = models.CheckConstraint(condition=models.Q(amount__gt=0), name="sample_positive")


@pytest.fixture
def state() -> Iterator[ProjectState]:
    """Yield a state with a table of one row, -1."""
    found = ProjectState()
    fields = [
        ("id", models.BigAutoField(primary_key=True)),
        ("amount", models.IntegerField()),
    ]
    found.add_model(ModelState("sample", "Thing", fields))
    thing = found.apps.get_model("sample", "Thing")
    with connection.schema_editor() as editor:
        editor.create_model(thing)
    thing.objects.create(amount=-1)
    yield found
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {TABLE}")


def migrate(state: ProjectState, *operations: Operation) -> ProjectState:
    with connection.schema_editor(atomic=False) as editor:
        return sample(*operations).apply(state.clone(), editor)


def sample(*operations: Operation) -> Migration:
    sampled = type("Sample", (Migration,), {"atomic": False, "operations": list(operations)})
    migration = sampled("0002_sample", "sample")
    assert isinstance(migration, Migration)
    return migration


def reverse(state: ProjectState, *operations: Operation) -> None:
    with connection.schema_editor(atomic=False) as editor:
        sample(*operations).unapply(state.clone(), editor)


def constraints() -> Mapping[str, Mapping[str, object]]:
    with connection.cursor() as cursor:
        return connection.introspection.get_constraints(cursor, TABLE)


def test_an_index_comes_and_goes(state: ProjectState) -> None:
    add = AddIndexConcurrently("Thing", INDEX)
    remove = RemoveIndexConcurrently("Thing", "sample_amounts")

    with_index = migrate(state, add)
    assert constraints()["sample_amounts"]["columns"] == ["amount"]
    migrate(with_index, remove)
    assert "sample_amounts" not in constraints()
    reverse(with_index, remove)
    assert "sample_amounts" in constraints()
    reverse(state, add)
    assert "sample_amounts" not in constraints()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL")
def test_an_index_of_partitions_comes_and_goes(state: ProjectState) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE sample_thing")
        cursor.execute("CREATE TABLE sample_thing (id bigint, amount int) PARTITION BY RANGE (id)")
        for part in ("FROM (0) TO (5)", "FROM (5) TO (9)"):
            name = f"sample_part_{part[6]}"
            cursor.execute(f"CREATE TABLE {name} PARTITION OF sample_thing FOR VALUES {part}")
        # What a failed build leaves.
        cursor.execute("CREATE INDEX sample_amounts ON ONLY sample_thing (amount)")
        cursor.execute("CREATE INDEX sample_part_0_sample_amounts ON sample_part_0 (amount)")
    add = AddIndexConcurrently("Thing", INDEX)
    remove = RemoveIndexConcurrently("Thing", "sample_amounts")

    with_index = migrate(state, add)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relid::regclass::text, indisvalid FROM pg_partition_tree('sample_amounts')"
            " JOIN pg_index ON indexrelid = relid ORDER BY 1"
        )
        assert cursor.fetchall() == [
            ("sample_amounts", True),
            ("sample_part_0_sample_amounts", True),
            ("sample_part_5_sample_amounts", True),
        ]
    migrate(with_index, remove)
    assert "sample_amounts" not in constraints()
    reverse(with_index, remove)
    assert "sample_amounts" in constraints()
    reverse(state, add)
    assert "sample_amounts" not in constraints()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL")
def test_an_index_replaces_an_invalid_one(state: ProjectState) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO sample_thing (amount) VALUES (-1)")
        with pytest.raises(IntegrityError):
            cursor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY sample_amounts ON {TABLE} (amount)")

    migrate(state, AddIndexConcurrently("Thing", INDEX))

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid, indisunique FROM pg_index WHERE indexrelid = 'sample_amounts'::regclass"
        )
        assert cursor.fetchall() == [(True, False)]


def test_a_constraint_holds_for_new_rows(state: ProjectState) -> None:
    if connection.vendor == "sqlite":
        state.apps.get_model("sample", "Thing").objects.all().delete()
    with_check = migrate(state, AddConstraintNotValid("Thing", POSITIVE))
    thing = with_check.apps.get_model("sample", "Thing")

    with pytest.raises(IntegrityError):
        thing.objects.create(amount=-2)
    if connection.vendor == "postgresql":
        assert thing.objects.get().amount == -1
        with pytest.raises(IntegrityError):
            migrate(with_check, ValidateConstraint("Thing", "sample_positive"))
        thing.objects.all().delete()
    migrate(with_check, ValidateConstraint("Thing", "sample_positive"))
    reverse(state, AddConstraintNotValid("Thing", POSITIVE))
    thing.objects.create(amount=-2)


def test_sql_runs_on_postgresql_only(state: ProjectState) -> None:
    operation = RunPostgreSQL(
        f"COMMENT ON TABLE {TABLE} IS 'A sample'", f"COMMENT ON TABLE {TABLE} IS NULL"
    )

    migrate(state, operation)
    assert comment() == ("A sample" if connection.vendor == "postgresql" else None)
    reverse(state, operation)
    assert comment() is None


def comment() -> str | None:
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT obj_description(%s::regclass, 'pg_class')", [TABLE])
        [found] = cursor.fetchone()
    return None if found is None else str(found)
