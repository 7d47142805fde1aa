"""Querysets compiled once.

Compiling a queryset to SQL costs more than sending it and reading a few rows. A `CompiledQuery` caches the SQL of the
ORM for each database and the types of its arguments. Frequent reads compile once and are still written as querysets,
which work on both databases.

A list is one parameter, however long it is: an array on PostgreSQL, JSON on SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar, cast
from uuid import UUID

import orjson
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.base import ModelState
from django.db.models.signals import post_init, pre_init
from django.db.models.sql import DeleteQuery, Query, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

from proofroom.core.database.replica import reading_connection

Row = dict[str, Any]
Scalar = UUID | str | int | datetime
Argument = Scalar | Sequence[UUID] | Sequence[str] | Sequence[int]
M = TypeVar("M", bound=Model)
Build = Callable[..., QuerySet[Any, Any]]

# Values that no queryset contains as a constant.
_UUID_MARK = UUID("5f0b1c1e-0000-4000-8000-000000000000").int
_TIME_MARK = datetime(1800, 1, 1, tzinfo=UTC)
_IN = "IN ("
_IN_LIST = {
    "postgresql": ("= ANY(", ")"),
    "sqlite": ("IN (SELECT value FROM json_each(", "))"),
}
"""The SQL before and after the parameter of a list, instead of `IN (` and `)`."""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A compiled statement.

    `sources` has for each SQL parameter the index of its argument, or None and a constant.
    """

    sql: str
    sources: tuple[tuple[int | None, Any], ...]
    names: tuple[str, ...]
    compiler: SQLCompiler
    converters: dict[int, Any]


class CompiledQuery:
    """A queryset compiled once for the types of its arguments.

    `build` takes the arguments and returns a queryset of `values()` or of objects. The rows of objects have all
    columns, and with `select_related` also the related columns under the names of `values()`. Arguments are UUIDs,
    strings, integers, datetimes, or lists of UUIDs, strings or integers for `__in`. Each must become an SQL parameter
    unchanged.
    """

    def __init__(self, build: Build) -> None:
        self._build = build
        self._compiled: dict[tuple[object, ...], _Compiled] = {}

    def rows(self, *arguments: Argument) -> list[Row]:
        """Return the rows as dicts. Runs one query, or none if a sequence is empty."""
        names, rows = self._ask(arguments)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def tuples(self, *arguments: Argument) -> list[Sequence[Any]]:
        """Return the rows as tuples in the order of `values()`: named columns first, then computed ones."""
        return [*self._ask(arguments)[1]]

    def _ask(
        self, arguments: Sequence[Argument]
    ) -> tuple[tuple[str, ...], Iterable[Sequence[Any]]]:
        """Return the names of the columns and the rows."""
        if _has_empty_list(arguments):
            return (), ()
        reading = reading_connection()
        shape = _shape_of(arguments, reading)
        found = self._compiled.get(shape)
        if found is None:
            found = self._compiled[shape] = _compile(self._build, arguments)
        adapted = _adapt(arguments)
        parameters: list[Any] = [
            constant if place is None else adapted[place] for place, constant in found.sources
        ]
        rows: Iterable[Sequence[Any]] = fetch(reading, found.sql, parameters)
        if found.converters:
            rows = found.compiler.apply_converters(rows, found.converters)
        return found.names, rows


class CompiledQueryForEach:
    """A statement run for each of many strings. `build` takes the string as its last argument.

    Each run has its own order and limit, and may lock rows. PostgreSQL runs them in one query, and the rows of all
    come in no particular order. SQLite runs them one by one: there a query is a function call, faster than one long
    statement.
    """

    def __init__(self, build: Build) -> None:
        self._build = build
        self._compiled: dict[tuple[object, ...], _Compiled] = {}

    def rows(self, *arguments: Scalar, of: Sequence[str]) -> list[Row]:
        """Return the rows of all strings. Runs no query if there are none."""
        if not of:
            return []
        reading = reading_connection()
        shape = _shape_of(arguments, reading)
        found = self._compiled.get(shape)
        if found is None:
            found = _compile(self._build, [*arguments, of[0]])
            if reading.vendor == "postgresql":
                found = _lateral_statement(found, last=len(arguments))
            self._compiled[shape] = found
        adapted: list[Any] = _adapt(arguments)
        rows: Iterable[Sequence[Any]] = [
            row
            for last in ([[*of]] if reading.vendor == "postgresql" else of)
            for row in fetch(
                reading,
                found.sql,
                [
                    constant if place is None else [*adapted, last][place]
                    for place, constant in found.sources
                ],
            )
        ]
        if found.converters:
            rows = found.compiler.apply_converters(rows, found.converters)
        return [dict(zip(found.names, row, strict=True)) for row in rows]


def _lateral_statement(found: _Compiled, last: int) -> _Compiled:
    """Return the statement for a list as its last argument, with the rows of each element."""
    begin, *pieces = found.sql.split("%s")
    named = [
        f"each_of.value{piece}" if place == last else f"%s{piece}"
        for piece, (place, _) in zip(pieces, found.sources, strict=True)
    ]
    sql = (
        "SELECT found.* FROM unnest(%s::text[]) AS each_of(value) "  # noqa: S608  # SQL of a queryset
        f"CROSS JOIN LATERAL ({begin}{''.join(named)}) AS found"
    )
    # The list becomes the first parameter.
    others = tuple(source for source in found.sources if source[0] != last)
    return replace(found, sql=sql, sources=((last, None), *others))


@dataclass(frozen=True, slots=True)
class BoundUpdate:
    """An update with its arguments, not executed yet. It returns a row for each row it changed."""

    sql: str
    parameters: Sequence[Any]

    def execute(self) -> int:
        """Execute it in one statement. Return the number of changed rows."""
        return len(fetch(connection, self.sql, self.parameters))


class Update:
    """An update compiled once for the types of its arguments, like a `CompiledQuery`.

    `build` returns a queryset and the new values of its columns. Without values its rows are deleted; rows that refer
    to them are not.
    """

    def __init__(
        self, build: Callable[..., tuple[QuerySet[Any, Any], dict[str, Any] | None]]
    ) -> None:
        self._build = build
        self._compiled: dict[
            tuple[object, ...], tuple[str, tuple[tuple[int | None, Any], ...]]
        ] = {}

    def execute(self, *arguments: Argument) -> int:
        """Execute it in one statement, or none if a sequence is empty. Return the number of changed rows."""
        return 0 if _has_empty_list(arguments) else self.bound(*arguments).execute()

    def bound(self, *arguments: Argument) -> BoundUpdate:
        """Return the update with these arguments, to execute alone or with an insert. No sequence may be empty."""
        shape = _shape_of(arguments, connection)
        found = self._compiled.get(shape)
        if found is None:
            marks = _markers(arguments)
            rows, values = self._build(*_marked(arguments, marks))
            query: Query = rows.query.chain(UpdateQuery if values is not None else DeleteQuery)
            if values is not None:
                cast("UpdateQuery", query).add_update_values(values)
            sql, parameters = query.get_compiler(connection=connection).as_sql()
            sources = _sources(sql, parameters, marks)
            found = _with_list_parameters(f"{sql} RETURNING 1", sources, arguments), sources
            self._compiled[shape] = found
        sql, sources = found
        adapted = _adapt(arguments)
        parameters = [constant if place is None else adapted[place] for place, constant in sources]
        return BoundUpdate(sql, parameters)


def instance_from_row(model: type[M], row: Row) -> M:
    """Return an instance from the columns of a row. Missing columns are deferred."""
    known = {name: row[name] for name in _columns(model) if name in row}
    alias = reading_connection().alias
    if _has_custom_init(model):
        return model.from_db(alias, list(known), list(known.values()))
    # Like `Model.from_db`, without its loop over all fields.
    instance = model.__new__(model)
    instance.__dict__.update(known)
    instance._state = state = ModelState()
    state.db, state.adding = alias, False
    return instance


def new_instance(model: type[M], **columns: Any) -> M:
    """Return a new unsaved instance like `model(**columns)`, without its loop over all fields.

    Foreign keys are given as ids: `post_id`, not `post`.
    """
    if _has_custom_init(model):
        return model(**columns)
    instance = model.__new__(model)
    constants, factories = _defaults(model)
    given = instance.__dict__
    given.update(constants)
    given.update(columns)
    for name, make in factories:
        if name not in columns:
            given[name] = make()
    instance._state = ModelState()
    return instance


def related_from_row(model: type[M], row: Row, name: str) -> M | None:
    """Return the related object `name` from its columns in a row; None if the foreign key is null."""
    prefix = f"{name}__"
    own = {key.removeprefix(prefix): row[key] for key in row if key.startswith(prefix)}
    return instance_from_row(model, own) if own[model._meta.pk.attname] is not None else None


def first_instance(model: type[M], rows: list[Row]) -> M | None:
    """Return the instance of the first row; None if there are no rows."""
    return instance_from_row(model, rows[0]) if rows else None


def columns_of(model: type[Model]) -> list[str]:
    """Return all column names, for `values()`."""
    return list(_columns(model))


@lru_cache(maxsize=200)
def _columns(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in model._meta.concrete_fields)


@lru_cache(maxsize=200)
def _defaults(
    model: type[Model],
) -> tuple[dict[str, Any], tuple[tuple[str, Callable[[], Any]], ...]]:
    """Return the default values of a new instance, and the functions that create the others."""
    fields = model._meta.concrete_fields
    factories = [one for one in fields if one.has_default() and callable(one.default)]
    constants = {one.attname: one.get_default() for one in fields if one not in factories}
    return constants, tuple((one.attname, one.get_default) for one in factories)


@lru_cache(maxsize=200)
def _has_custom_init(model: type[Model]) -> bool:
    """Return whether a model has its own constructor or receivers of `pre_init` or `post_init`."""
    is_plain = model.__init__ is Model.__init__ and model.from_db.__func__ is Model.from_db.__func__  # type: ignore[attr-defined]  # a class method
    return not is_plain or pre_init.has_listeners(model) or post_init.has_listeners(model)


def fetch(
    connection: BaseDatabaseWrapper, sql: str, parameters: Sequence[Any]
) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _has_empty_list(arguments: Sequence[Argument]) -> bool:
    return any(not isinstance(one, Scalar) and not one for one in arguments)


def _shape_of(arguments: Sequence[Argument], connection: BaseDatabaseWrapper) -> tuple[object, ...]:
    """Return the database and the types, because a string and a UUID in the same place are adapted differently."""
    types = [type(one) if isinstance(one, Scalar) else (list, type(one[0])) for one in arguments]
    return (connection.vendor, *types)


def _adapt(arguments: Sequence[Argument]) -> list[Any]:
    """Return the arguments in the form that the database expects."""
    has_arrays = connection.vendor == "postgresql"
    adapted: list[Any] = []
    for argument in arguments:
        if isinstance(argument, Scalar):
            adapted.append(_adapt_scalar(argument))
        elif has_arrays:
            adapted.append([*argument])
        else:
            adapted.append(orjson.dumps([*map(_adapt_scalar, argument)]).decode())
    return adapted


def _adapt_scalar(value: Scalar) -> Scalar:
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value) or value
    return value


def _compile(build: Build, arguments: Sequence[Argument]) -> _Compiled:
    marks = _markers(arguments)
    compiler = build(*_marked(arguments, marks)).query.get_compiler(connection=connection)
    sql, parameters = compiler.as_sql()
    sources = _sources(sql, parameters, marks)
    sql = _with_list_parameters(sql, sources, arguments)
    expressions = [item[0] for item in compiler.select[: compiler.col_count]]
    names = tuple(compiler.query.selected or _names(compiler, compiler.klass_info))
    return _Compiled(sql, sources, names, compiler, compiler.get_converters(expressions))


def _with_list_parameters(
    sql: str, sources: Sequence[tuple[int | None, Any]], arguments: Sequence[Argument]
) -> str:
    """Return the statement with `IN (%s)` of each list in the form that takes the whole list as a parameter."""
    begin, end = _IN_LIST[connection.vendor]
    written, *pieces = sql.split("%s")
    for piece, (place, _) in zip(pieces, sources, strict=True):
        if place is None or isinstance(arguments[place], Scalar):
            written += f"%s{piece}"
        elif written.endswith(_IN) and piece.startswith(")"):
            written = f"{written.removesuffix(_IN)}{begin}%s{end}{piece[1:]}"
        else:
            raise ValueError(f"a list is not the right side of IN in: {sql}")
    return written


def _names(compiler: SQLCompiler, info: Any, prefix: str = "") -> list[str]:
    """Return the names of the columns of objects and of their related objects, in the order of the columns."""
    names = [
        f"{prefix}{compiler.select[place][0].target.attname}" for place in info["select_fields"]
    ]
    for related in info.get("related_klass_infos", ()):
        names += _names(compiler, related, f"{prefix}{related['field'].name}__")
    return names


def _markers(arguments: Sequence[Argument]) -> list[Scalar]:
    """Return a unique value for each argument, of its type or the type of its elements.

    The compiled parameters that equal a marker show where its argument belongs.
    """
    marks: list[Scalar] = []
    for place, argument in enumerate(arguments):
        value = argument if isinstance(argument, Scalar) else argument[0]
        if isinstance(value, UUID):
            marks.append(UUID(int=_UUID_MARK + place))
        elif isinstance(value, datetime):
            marks.append(_TIME_MARK + timedelta(days=place))
        else:
            marks.append(f"\x01{place}" if isinstance(value, str) else -1_000_000 - place)
    return marks


def _marked(arguments: Sequence[Argument], marks: Sequence[Scalar]) -> list[Any]:
    return [
        mark if isinstance(argument, Scalar) else [mark]
        for argument, mark in zip(arguments, marks, strict=True)
    ]


def _sources(
    sql: str, parameters: Sequence[Any], marks: Sequence[Scalar]
) -> tuple[tuple[int | None, Any], ...]:
    """Return for each parameter the index of its argument, or None and the constant."""
    places = {mark: place for place, mark in enumerate(_adapt(marks))}
    sources = tuple(
        (places[value], None) if isinstance(value, Scalar) and value in places else (None, value)
        for value in parameters
    )
    # Otherwise the cached SQL would contain the first call's value as a constant, or ignore it.
    if {place for place, _ in sources} - {None} != set(range(len(marks))):
        raise ValueError(f"not every argument is a parameter of: {sql}")
    return sources
