"""Distinct values of columns, found through an index without reading each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connections
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL


def distinct_values(rows: QuerySet[Any, Any], columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the sorted values of text columns, by column. One statement.

    Each step looks up the smallest value above the previous one. That is one index lookup per value if an index
    begins with the column; otherwise each step reads all rows. PostgreSQL's DISTINCT always reads all rows.
    """
    parts, parameters = list[str](), list[Any]()
    for number, column in enumerate(columns):
        given = rows.order_by(column).filter(**{f"{column}__isnull": False})
        first = given.values(column)[:1]
        after = given.filter(**{f"{column}__gt": RawSQL("found.value", [])}).values(column)[:1]
        (first_sql, first_parameters), (after_sql, after_parameters) = (
            one.query.sql_with_params() for one in (first, after)
        )
        parts.append(
            f"SELECT {number}, value FROM (WITH RECURSIVE found (value) AS (SELECT ({first_sql}) "  # noqa: S608  # SQL of querysets
            f"UNION ALL SELECT ({after_sql}) FROM found WHERE found.value IS NOT NULL) "
            f"SELECT value FROM found WHERE value IS NOT NULL) AS values_{number}"
        )
        parameters += [*first_parameters, *after_parameters]
    in_use: dict[str, list[str]] = {column: [] for column in columns}
    with connections[rows.db].cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), parameters)
        for number, value in cursor.fetchall():
            in_use[columns[number]].append(value)
    # Databases order by their own collation.
    return {column: sorted(values) for column, values in in_use.items()}
