"""Row counts that are exact up to a bound and estimated by PostgreSQL's planner beyond, because counting reads
every row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.db.models import IntegerField, QuerySet, Subquery

from proofroom.core.database.compiled_queries import fetch
from proofroom.core.database.replica import reading_connection

COUNTED_TO: Final = 10_000


@dataclass(frozen=True, slots=True)
class RowCount:
    """A number of rows, exact or estimated."""

    number: int
    is_exact: bool = True

    def seen_from(self, begin: int, size: int, found: int) -> RowCount:
        """Return the count to show on a page that begins at `begin` and has `found` of at most `size` rows.

        The last page makes the count exact. After a full page, an estimate always leaves room for a next page.
        """
        if self.is_exact:
            return self
        if found == size:
            return RowCount(max(self.number, begin + size + 1), is_exact=False)
        if found:
            return RowCount(begin + found)
        return RowCount(min(self.number, begin), is_exact=False)


def bounded_count(rows: QuerySet[Any]) -> Subquery:
    """Return a column with the number of rows, at most one more than the bound, for `complete_count`."""
    return Subquery(
        rows.order_by().values("pk")[: COUNTED_TO + 1],
        output_field=IntegerField(),
        template='(SELECT COUNT(*) FROM (%(subquery)s) AS "counted")',
    )


def count_rows(rows: QuerySet[Any]) -> RowCount:
    """Return the number of rows. Runs one query, or two beyond the bound."""
    # One more than the bound, to see whether there are more.
    counted = rows.order_by().values("pk")[: COUNTED_TO + 1].count()
    return complete_count(counted, lambda: rows)


def complete_count(counted: int, rows: Callable[[], QuerySet[Any]]) -> RowCount:
    """Return the number of rows for a `counted` of `bounded_count`. Runs one query beyond the bound, otherwise none.

    SQLite has no estimate, so it counts all rows.
    """
    if counted <= COUNTED_TO:
        return RowCount(counted)
    if connection.vendor != "postgresql":
        return RowCount(rows().order_by().count())
    return RowCount(max(counted, planned_rows(rows())), is_exact=False)


def planned_rows(rows: QuerySet[Any]) -> int:
    """Return the number of rows that PostgreSQL's planner expects. Runs one query, which reads no rows."""
    sql, parameters = rows.order_by().values("pk").query.sql_with_params()
    [(plan,)] = fetch(reading_connection(), f"EXPLAIN (FORMAT JSON) {sql}", parameters)
    return int(plan[0]["Plan"]["Plan Rows"])
