"""Rows of a subquery as one list in JSON, on every database that this project runs on."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, JSONField
from django.db.models.sql.compiler import SQLCompiler


class JSONList(Func):
    """A list of the expression's values in all rows. No `Aggregate`: it groups nothing, so a subquery has one row."""

    function = "JSON_GROUP_ARRAY"
    output_field = JSONField()
    arity = 1

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, list[Any]]:
        sql, parameters = self.as_sql(compiler, connection, function="JSONB_AGG", **context)
        return sql, list(parameters)
