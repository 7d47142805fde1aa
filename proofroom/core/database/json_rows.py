"""The rows of a queryset as one column of another, so that a thing and its parts are read in one statement."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import JSONField, Subquery, TextField
from django.db.models.sql.compiler import SQLCompiler


class ListedRows(Subquery):
    """The text of a JSON list with an object for each row; NULL or an empty list where there is none.

    The queryset names its columns itself: `values(name=F("column"))`. An id is written as the database writes it, and
    on SQLite a boolean is a number.
    """

    template = "(SELECT JSON_AGG(ROW_TO_JSON(listed))::text FROM (%(subquery)s) listed)"
    output_field: ClassVar[TextField[str, str]] = TextField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **given: Any
    ) -> tuple[str, Any]:
        pairs = []
        for name, expression in self.query.annotation_select.items():
            column = f"listed.{connection.ops.quote_name(name)}"
            is_json = isinstance(expression.output_field, JSONField)
            pairs.append(f"'{name}', {f'JSON({column})' if is_json else column}")
        rows = f"JSON_GROUP_ARRAY(JSON_OBJECT({', '.join(pairs)}))"
        template = self.template.replace("JSON_AGG(ROW_TO_JSON(listed))::text", rows)
        return self.as_sql(compiler, connection, template=template, **given)
