"""Inserts that are compiled once: new rows go to PostgreSQL as JSON, all the tables of one write in one statement.

The ORM makes the SQL of an insert anew for each write, and adapts each value by itself: for the rows of a new post
that is half of what the request costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

import orjson
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import AutoField, DateField, Field, Model

from proofroom.core.database.statements import BoundUpdate, fetch

Rows = Sequence[Model]
Updates = Sequence[BoundUpdate]
_AT_A_TIME: Final = 1000
_OPTIONS: Final = orjson.OPT_NON_STR_KEYS
_encode: Final = DjangoJSONEncoder().default


@dataclass(frozen=True, slots=True)
class _Insert:
    """The insert of a model's rows. `values` has the name of each column with what reads it from an object."""

    sql: str
    key: str
    values: tuple[tuple[str, str, Callable[[Model, bool], Any] | None], ...]
    is_numbered: bool

    def as_json(self, rows: Rows, *, is_new: bool = True) -> str:
        values = self.values
        listed = [
            {
                column: prepare(row, is_new) if prepare else getattr(row, name)
                for column, name, prepare in values
            }
            for row in rows
        ]
        return orjson.dumps(listed, default=_encode, option=_OPTIONS).decode()


_inserts: dict[type[Model], _Insert] = {}
_statements: dict[tuple[object, ...], str] = {}
_whole_updates: dict[type[Model], str] = {}


def insert_rows(*groups: Rows, updates: Updates = ()) -> list[int]:
    """Store new rows: groups of one model each, in one statement for all where that is PostgreSQL.

    Keys that the database gives are set on the objects of a single group. No signals are sent. The updates go with
    the rows, in the same statement where that is PostgreSQL: they see none of these, and none of them touches a row
    of another one. Answers how many rows each of them changed.
    """
    filled = [group for group in groups if group]
    if connection.vendor != "postgresql" or not filled:
        for group in filled:
            _manager(group).bulk_create(group)
        return [update.execute() for update in updates]
    longest = max(map(len, filled))
    changed: list[int] = []
    for begin in range(0, longest, _AT_A_TIME):
        parts = [group[begin : begin + _AT_A_TIME] for group in filled]
        is_last = begin + _AT_A_TIME >= longest
        found = _insert([part for part in parts if part], updates=updates if is_last else ())
        changed = [*found[0][1:]]
    return changed


def insert_if_free(row: Model, *groups: Rows, updates: Updates = ()) -> bool:
    """Store a new row and what belongs to it, or answer False where another one has what only one may have.

    The caller's transaction has to be undone then: of what belongs to the row some may be stored. The updates go
    with the rows as with `insert_rows`.
    """
    if connection.vendor != "postgresql":
        try:
            with transaction.atomic():
                _manager([row]).bulk_create([row])
        except IntegrityError:
            return False
        insert_rows(*groups, updates=updates)
        return True
    filled = [[row], *(group for group in groups if group)]
    return bool(_insert(filled, if_free=True, updates=updates))


def update_row(row: Model) -> None:
    """Store all columns of a row that is there. No signals are sent."""
    if connection.vendor != "postgresql":
        row.save(force_update=True)
        return
    model = type(row)
    one = _insert_of(model)
    sql = _whole_updates.get(model)
    if sql is None:
        sql = _whole_updates[model] = _whole_update(model)
    values = one.as_json([row], is_new=False)
    if not fetch(connection, sql, [values, row.pk]):
        raise DatabaseError(f"no row has the key of {row!r}")


def insert_new(rows: Rows, updates: Updates = ()) -> None:
    """Store those of the rows that have not what only one may have and another one has.

    The updates go with them as with `insert_rows`.
    """
    if connection.vendor != "postgresql" or not rows:
        if rows:
            _manager(rows).bulk_create(rows, batch_size=500, ignore_conflicts=True)
        for update in updates:
            update.execute()
        return
    for begin in range(0, len(rows), _AT_A_TIME):
        is_last = begin + _AT_A_TIME >= len(rows)
        part = rows[begin : begin + _AT_A_TIME]
        _insert([part], if_free=True, updates=updates if is_last else ())


def write_over(rows: Rows, columns: Sequence[str]) -> None:
    """Store these columns of rows that are there already, and the whole of those that are not."""
    if rows and connection.vendor != "postgresql":
        _manager(rows).bulk_create(
            rows, batch_size=500, update_conflicts=True, unique_fields=["pk"], update_fields=columns
        )
        return
    for begin in range(0, len(rows), _AT_A_TIME):
        _insert([rows[begin : begin + _AT_A_TIME]], over=columns)


def _manager(rows: Rows) -> Any:
    return type(rows[0])._default_manager


def _insert(
    groups: Sequence[Rows],
    *,
    if_free: bool = False,
    over: Sequence[str] = (),
    updates: Updates = (),
) -> list[tuple[Any, ...]]:
    """The keys of the first group's rows, in their order."""
    models = [type(group[0]) for group in groups]
    shape = (*models, if_free, *over)
    sql = _statements.get(shape)
    if sql is None:
        sql = _statements[shape] = _statement(models, if_free, over)
    inserts = [_insert_of(model) for model in models]
    texts = [one.as_json(group) for one, group in zip(inserts, groups, strict=True)]
    if updates:
        sql = _with_updates(sql, tuple(one.sql for one in updates))
    found = fetch(connection, sql, [value for one in updates for value in one.parameters] + texts)
    alias = connection.alias
    for group in groups:
        for row in group:
            row._state.adding, row._state.db = False, alias
    if inserts[0].is_numbered and not (over or if_free) and len(groups) == 1:
        for row, (key, *_) in zip(groups[0], found, strict=True):
            row.pk = key
    return found


def _statement(models: Sequence[type[Model]], if_free: bool, over: Sequence[str]) -> str:
    first, *others = [_insert_of(model) for model in models]
    conflict = " ON CONFLICT DO NOTHING" if if_free else ""
    if over:
        quote = connection.ops.quote_name
        names = [
            quote(str(cast("Field[Any, Any]", models[0]._meta.get_field(name)).column))
            for name in over
        ]
        renewed = ", ".join(f"{name} = EXCLUDED.{name}" for name in names)
        conflict = f" ON CONFLICT ({first.key}) DO UPDATE SET {renewed}"
    parts = [f"rows_0 AS ({first.sql}{conflict} RETURNING {first.key})"]
    parts += [f"rows_{place} AS ({one.sql})" for place, one in enumerate(others, start=1)]
    return f"WITH {', '.join(parts)} SELECT {first.key} FROM rows_0"  # noqa: S608  # names of the models'


@lru_cache(maxsize=200)
def _with_updates(insert: str, updates: tuple[str, ...]) -> str:
    """The insert with updates before it, that answers how many rows each of them changed beside each key."""
    before = ", ".join(f"updated_{place} AS ({sql})" for place, sql in enumerate(updates))
    rows, _, end = insert.removeprefix("WITH ").rpartition(" FROM rows_0")
    counts = "".join(
        f", (SELECT count(*) FROM updated_{place})"  # noqa: S608  # a number
        for place in range(len(updates))
    )
    return f"WITH {before}, {rows}{counts} FROM rows_0{end}"


def _whole_update(model: type[Model]) -> str:
    one, quote = _insert_of(model), connection.ops.quote_name
    columns = [column for column, _, _ in one.values if quote(column) != one.key]
    given = ", ".join(f"given.{quote(column)}" for column in columns)
    names = ", ".join(map(quote, columns))
    source = one.sql.partition(" FROM ")[2]
    table = quote(model._meta.db_table)
    return (
        f"UPDATE {table} SET ({names}) = ROW ({given}) FROM {source} "  # noqa: S608
        f"WHERE {table}.{one.key} = %s RETURNING 1"
    )


def _insert_of(model: type[Model]) -> _Insert:
    found = _inserts.get(model)
    if found is not None:
        return found
    quote = connection.ops.quote_name
    meta = model._meta
    fields = [one for one in meta.concrete_fields if not isinstance(one, AutoField)]
    columns = [quote(str(one.column)) for one in fields]
    # Without its length a text that is too long is refused by the table, not cut.
    types = [cast("str", one.db_type(connection)).partition("(")[0] for one in fields]
    typed = ", ".join(f"{column} {type_}" for column, type_ in zip(columns, types, strict=True))
    names = ", ".join(columns)
    sql = (
        f"INSERT INTO {quote(meta.db_table)} ({names}) "  # noqa: S608  # names of the model's
        f"SELECT {names} FROM json_to_recordset(%s::json) AS given ({typed})"
    )
    values = tuple((str(one.column), one.attname, _preparation(one)) for one in fields)
    key = meta.pk
    found = _Insert(sql, quote(str(key.column)), values, isinstance(key, AutoField))
    _inserts[model] = found
    return found


def _preparation(field: Field[Any, Any]) -> Callable[[Model, bool], Any] | None:
    """What a field does before it is stored, such as taking the time; None for most, which do nothing."""
    is_plain = type(field).pre_save is Field.pre_save
    if is_plain or (isinstance(field, DateField) and not (field.auto_now or field.auto_now_add)):
        return None
    return field.pre_save
