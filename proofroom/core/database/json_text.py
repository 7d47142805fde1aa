"""JSON built by the database, on both databases, for responses that pass it through unchanged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Func, JSONField, QuerySet, Subquery
from django.db.models import fields as columns
from django.db.models.expressions import Expression
from django.db.models.functions import Cast
from django.db.models.sql.compiler import SQLCompiler

MAX_NAMES: Final = 50
"""PostgreSQL functions have at most 100 arguments."""
_Compiled = tuple[str, tuple[Any, ...]]


class JSONValue(Func):
    """One value as JSON: UUIDs with hyphens, times in UTC with milliseconds, like `format_time`."""

    output_field = JSONField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        source = self.get_source_expressions()[0]
        sql, parameters = compiler.compile(source)
        return f"JSON_QUOTE({_value_in_sqlite(sql, source)})", tuple(parameters)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        source = self.get_source_expressions()[0]
        sql, parameters = compiler.compile(source)
        return f"TO_JSON({_value_in_postgresql(sql, source)})", tuple(parameters)


class JSONText(Func):
    """One value like `JSONValue` without quotation marks. As text, Python doesn't need to parse it."""

    output_field = columns.TextField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        source = self.get_source_expressions()[0]
        sql, parameters = compiler.compile(source)
        return _value_in_sqlite(sql, source), tuple(parameters)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        source = self.get_source_expressions()[0]
        sql, parameters = compiler.compile(source)
        return f"({_value_in_postgresql(sql, source)})::text", tuple(parameters)


class JSONObject(Func):
    """A JSON object of the named values, each like `JSONValue`."""

    output_field = JSONField()

    def __init__(self, **values: Any) -> None:
        # The names become part of the SQL, so they must be identifiers.
        if len(values) > MAX_NAMES or not all(name.isidentifier() for name in values):
            raise ValueError(f"at most {MAX_NAMES} names, each an identifier: {', '.join(values)}")
        self.names = tuple(values)
        super().__init__(*values.values())

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        return self._as_call("JSON_OBJECT", _value_in_sqlite, compiler)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        return self._as_call("JSON_BUILD_OBJECT", _value_in_postgresql, compiler)

    def _as_call(self, function: str, write_value: Any, compiler: SQLCompiler) -> _Compiled:
        arguments: list[str] = []
        parameters: list[Any] = []
        for name, source in zip(self.names, self.get_source_expressions(), strict=True):
            sql, own = compiler.compile(source)
            arguments += [f"'{name}'", write_value(sql, source)]
            parameters += own
        return f"{function}({', '.join(arguments)})", tuple(parameters)


class CompactObject(JSONObject):
    """A `JSONObject` without spaces, like JSON written by Python."""

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        arguments: list[str] = []
        parameters: list[Any] = []
        for name, source in zip(self.names, self.get_source_expressions(), strict=True):
            sql, own = compiler.compile(source)
            begin = "," if arguments else "{"
            value = f"TO_JSON({_value_in_postgresql(sql, source)})::text"
            # CONCAT skips NULL, so write JSON's null.
            arguments += [f"""'{begin}"{name}":'""", f"COALESCE({value}, 'null')"]
            parameters += own
        return f"CONCAT({', '.join(arguments)}, '}}')", tuple(parameters)


class JSONListHas(Func):
    """True if the list under `name` of a JSON object contains one of the texts."""

    output_field = columns.BooleanField()

    def __init__(self, expression: Any, name: str, texts: Iterable[str]) -> None:
        # The name becomes part of the SQL.
        if not name.isidentifier():
            raise ValueError(f"no identifier: {name!r}")
        self.name, self.texts = name, sorted(texts)
        super().__init__(expression)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        sql, parameters = compiler.compile(self.get_source_expressions()[0])
        places = ", ".join(["%s"] * len(self.texts))
        return (
            f"EXISTS (SELECT 1 FROM JSON_EACH({sql}, '$.{self.name}') WHERE value IN ({places}))",  # noqa: S608  # contains no values
            (*parameters, *self.texts),
        )

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        sql, parameters = compiler.compile(self.get_source_expressions()[0])
        return f"JSONB_EXISTS_ANY({sql} -> '{self.name}', %s)", (*parameters, self.texts)


class JSONRows(Subquery):
    """The rows of a queryset as a JSON array, in their order; empty if there are none.

    Each row has one value, `entry`: a `JSONObject` or a `JSONValue`.
    """

    output_field: Field[Any, Any] = JSONField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        template = "(SELECT JSON_GROUP_ARRAY(JSON(entry)) FROM (%(subquery)s))"
        sql, parameters = self.as_sql(compiler, connection, template=template, **context)
        return sql, tuple(parameters)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        template = "(SELECT COALESCE(JSON_AGG(entry), '[]') FROM (%(subquery)s) AS entries)"
        sql, parameters = self.as_sql(compiler, connection, template=template, **context)
        return sql, tuple(parameters)


class CompactRows(JSONRows):
    """`JSONRows` without spaces and as text, for rows whose `entry` is a `CompactObject`."""

    output_field = columns.TextField()

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> _Compiled:
        template = (
            "(SELECT CONCAT('[', STRING_AGG(entry, ','), ']') FROM (%(subquery)s) AS entries)"
        )
        sql, parameters = self.as_sql(compiler, connection, template=template, **context)
        return sql, tuple(parameters)


def rows_as_text(rows: QuerySet[Any, Any]) -> Cast:
    """Return a column with the rows of a queryset as JSON text, which the database driver doesn't parse."""
    return Cast(JSONRows(rows), columns.TextField())


def _storage_field(source: Expression) -> Field[Any, Any]:
    """Return the field that defines the storage of a value; for a foreign key, the target field."""
    field = source.output_field
    return getattr(field, "target_field", field)


def _value_in_postgresql(sql: str, source: Expression) -> str:
    if isinstance(_storage_field(source), columns.DateTimeField):
        return f"""TO_CHAR({sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
    return sql


def _value_in_sqlite(sql: str, source: Expression) -> str:
    """Return the SQL of a JSON value. SQLite has no types for these columns, which hold text and numbers."""
    column = _storage_field(source)
    if isinstance(column, JSONField):
        return f"JSON({sql})"
    if isinstance(column, columns.UUIDField):
        # Stored as 32 hex digits.
        parts = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
        return " || '-' || ".join(f"SUBSTR({sql}, {begin}, {size})" for begin, size in parts)
    if isinstance(column, columns.BooleanField):
        return f"JSON(CASE {sql} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
    if isinstance(column, columns.DateTimeField):
        # Stored like 2030-01-31 12:00:00.123456, without a fraction if it is zero.
        fraction = f"SUBSTR(SUBSTR({sql}, 21) || '000', 1, 3)"
        return f"SUBSTR({sql}, 1, 10) || 'T' || SUBSTR({sql}, 12, 8) || '.' || {fraction} || 'Z'"
    if isinstance(column, columns.FloatField):
        # SQLite's JSON functions write only 15 digits.
        return f"JSON(CASE WHEN {sql} IS NOT NULL THEN PRINTF('%%!.17g', {sql}) END)"
    return sql
