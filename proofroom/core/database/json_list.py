"""Rows of a subquery as a JSON list, on both databases."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, JSONField
from django.db.models.sql.compiler import SQLCompiler


class JSONList(Func):
    """A list with one list per row, of the expressions in their order.

    It is no `Aggregate`, because Django would add a GROUP BY and the subquery would have several rows.
    """

    template = "JSON_GROUP_ARRAY(JSON_ARRAY(%(expressions)s))"
    output_field = JSONField()

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, list[Any]]:
        template = "JSONB_AGG(JSONB_BUILD_ARRAY(%(expressions)s))"
        sql, parameters = self.as_sql(compiler, connection, template=template, **context)
        return sql, list(parameters)
