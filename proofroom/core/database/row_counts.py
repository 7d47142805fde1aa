"""Numbers of rows: exact to a bound, beyond it the estimate of the planner, since counting reads every row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.db.models import IntegerField, QuerySet, Subquery

from proofroom.core.database.replica import reading_connection
from proofroom.core.database.statements import fetch

COUNTED_TO: Final = 10_000


@dataclass(frozen=True, slots=True)
class RowCount:
    """How many rows there are."""

    number: int
    is_exact: bool = True

    def seen_from(self, begin: int, size: int, found: int) -> RowCount:
        """The count beside a page that begins at `begin`, may have `size` rows, and has `found`.

        The end of a list is exact. An estimate ends no list early: a full page always has a next one.
        """
        if self.is_exact:
            return self
        if found == size:
            return RowCount(max(self.number, begin + size + 1), is_exact=False)
        if found:
            return RowCount(begin + found)
        return RowCount(min(self.number, begin), is_exact=False)


def bounded_count(rows: QuerySet[Any]) -> Subquery:
    """A column with the number of rows, which `complete_count` makes a `RowCount`: nothing beyond the bound is
    counted."""
    return Subquery(
        rows.order_by().values("pk")[: COUNTED_TO + 1],
        output_field=IntegerField(),
        template='(SELECT COUNT(*) FROM (%(subquery)s) AS "counted")',
    )


def count_rows(rows: QuerySet[Any]) -> RowCount:
    """One query; two where there are many."""
    counted = rows.order_by().values("pk")[: COUNTED_TO + 1].count()
    return complete_count(counted, lambda: rows)


def complete_count(counted: int, rows: Callable[[], QuerySet[Any]]) -> RowCount:
    """The number of rows, of which `counted` were counted to the bound. One query beyond the bound, else none.

    SQLite has no estimate, and counts all rows.
    """
    if counted <= COUNTED_TO:
        return RowCount(counted)
    if connection.vendor != "postgresql":
        return RowCount(rows().order_by().count())
    return RowCount(max(counted, planned_rows(rows())), is_exact=False)


def planned_rows(rows: QuerySet[Any]) -> int:
    """The number of rows that the planner of PostgreSQL expects. One query, which reads no row."""
    sql, parameters = rows.order_by().values("pk").query.sql_with_params()
    [(plan,)] = fetch(reading_connection(), f"EXPLAIN (FORMAT JSON) {sql}", parameters)
    return int(plan[0]["Plan"]["Plan Rows"])
