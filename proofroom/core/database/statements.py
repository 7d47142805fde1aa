"""Querysets compiled once.

Turning a queryset into SQL costs more than sending it and reading a few rows. A `Statement` keeps the SQL that
the ORM made, for each database and shape of its arguments, so that hot reads pay for it once and are still
written, and ported between databases, as querysets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from proofroom.core.database.replica import reading_connection

if TYPE_CHECKING:
    from proofroom.core.database.postgresql.base import DatabaseWrapper as PostgreSQL

Row = dict[str, Any]
Scalar = UUID | str | int
Argument = Scalar | Sequence[UUID] | Sequence[str]
M = TypeVar("M", bound=Model)
Build = Callable[..., QuerySet[Any, Any]]

_MARK = UUID("5f0b1c1e-0000-4000-8000-000000000000").int
_MOST_SHAPES = 500


@dataclass(frozen=True, slots=True)
class _Compiled:
    """`sources` has for each SQL parameter the place of its argument, or None and the constant itself."""

    sql: str
    sources: tuple[tuple[int | None, Any], ...]
    names: tuple[str, ...]
    compiler: SQLCompiler
    converters: dict[int, Any]


class Statement:
    """`build` takes the arguments and returns a queryset of `values()`.

    Arguments are UUIDs, strings, numbers, or lists of UUIDs or strings for `__in`; each must end
    up as a parameter unchanged.
    """

    def __init__(self, build: Build) -> None:
        self._build = build
        self._compiled: dict[tuple[object, ...], _Compiled] = {}

    def rows(self, *arguments: Argument) -> list[Row]:
        """One query; none where a sequence is empty."""
        sizes = [
            (None if isinstance(argument, Scalar) else len(argument)) for argument in arguments
        ]
        if 0 in sizes:
            return []
        # With the types: a text and an id of the same query are adapted differently.
        types = [type(argument) if isinstance(argument, Scalar) else None for argument in arguments]
        shape = (reading_connection().vendor, *sizes, *types)
        found = self._compiled.get(shape)
        if found is None:
            found = _compile(self._build, arguments)
            if len(self._compiled) >= _MOST_SHAPES:
                self._compiled.clear()
            self._compiled[shape] = found
        flat = _flat(arguments)
        parameters: list[Any] = [
            constant if place is None else _adapted(flat[place])
            for place, constant in found.sources
        ]
        rows: Iterable[Sequence[Any]] = _fetch(found.sql, parameters)
        if found.converters:
            rows = found.compiler.apply_converters(rows, found.converters)
        names = found.names
        return [dict(zip(names, row, strict=True)) for row in rows]


class Insert:
    """Writes rows of a model without making objects of them: one statement each, without the model's defaults."""

    def __init__(self, model: type[Model]) -> None:
        self._model = model
        self._sql: dict[str, str] = {}

    def execute(self, values: Mapping[str, Any]) -> None:
        """Write a row. `values` has every column but the key."""
        fields = [one for one in self._model._meta.concrete_fields if not one.primary_key]
        sql = self._sql.get(connection.vendor)
        if sql is None:
            quote = connection.ops.quote_name
            columns = ", ".join(quote(str(one.column)) for one in fields)
            marks = ", ".join(["%s"] * len(fields))
            table = quote(self._model._meta.db_table)
            sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608  # names of the model's
            self._sql[connection.vendor] = sql
        row = [one.get_db_prep_save(values[one.attname], connection) for one in fields]
        # What is asked for by itself fails whole, so that it may go without a cursor as a read does.
        is_postgresql = connection.vendor == "postgresql"
        if not is_postgresql or cast("PostgreSQL", connection).read(sql, row) is None:
            with connection.cursor() as cursor:
                cursor.execute(sql, row)


def instance_from_row(model: type[M], row: Row) -> M:
    """The model's object from the columns in a row; those that are not there load when they are asked for."""
    known = {name: row[name] for name in columns_of(model) if name in row}
    return model.from_db(reading_connection().alias, list(known), list(known.values()))


def first_instance(model: type[M], rows: list[Row]) -> M | None:
    """The object of the one row, where there is one."""
    return instance_from_row(model, rows[0]) if rows else None


def columns_of(model: type[Model]) -> list[str]:
    """Every column, for `values()`."""
    return [field.attname for field in model._meta.concrete_fields]


def _fetch(sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    connection = reading_connection()
    if connection.vendor == "postgresql":
        read = cast("PostgreSQL", connection).read(sql, parameters)
        if read is not None:
            return read
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _flat(arguments: Sequence[Argument]) -> list[Scalar]:
    flat: list[Scalar] = []
    for argument in arguments:
        if isinstance(argument, Scalar):
            flat.append(argument)
        else:
            flat.extend(argument)
    return flat


def _adapted(value: Scalar) -> Scalar:
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return value


def _compile(build: Build, arguments: Sequence[Argument]) -> _Compiled:
    flat = _flat(arguments)
    # Values of the same types that no queryset has as a constant.
    marks: list[Scalar] = []
    for place, value in enumerate(flat):
        if isinstance(value, UUID):
            marks.append(UUID(int=_MARK + place))
        else:
            marks.append(f"\x01{place}" if isinstance(value, str) else -1_000_000 - place)
    rest = iter(marks)
    marked = [
        next(rest) if isinstance(argument, Scalar) else [next(rest) for _ in argument]
        for argument in arguments
    ]
    compiler = build(*marked).query.get_compiler(connection=connection)
    sql, parameters = compiler.as_sql()
    places = {_adapted(mark): place for place, mark in enumerate(marks)}
    sources = tuple(
        (places[value], None) if isinstance(value, Scalar) and value in places else (None, value)
        for value in parameters
    )
    if {place for place, _ in sources} - {None} != set(range(len(flat))):
        raise ValueError(f"not every argument is a parameter of: {sql}")
    expressions = [item[0] for item in compiler.select[: compiler.col_count]]
    names = tuple(compiler.query.selected)
    return _Compiled(sql, sources, names, compiler, compiler.get_converters(expressions))
