"""Tallies into tables: one statement for each table, whatever there is to write, on both databases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from operator import add as add_numbers
from typing import Final

import orjson
from django.db import connection

from analytics.figures.tallies import CellKey, CountKey, SheetKey, Tallies
from analytics.models import Grain, HeatCell, HeatSheet, PostCount, SiteCount

_ROWS: Final = 10_000
"""Of one statement."""
Value = str | int | date
Columns = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """Where rows are added to: the columns that tell them apart, with their types, and those that are summed."""

    name: str
    keys: Columns
    sums: Sequence[str]

    @property
    def columns(self) -> Columns:
        return {**self.keys, **dict.fromkeys(self.sums, "bigint")}

    def statement(self) -> str:
        """Adds the rows of one JSON parameter; what is there grows by what comes."""
        # The names are those of this file; the values are one parameter.
        grown = ", ".join(f"{name} = {self.name}.{name} + excluded.{name}" for name in self.sums)
        return (
            f"INSERT INTO {self.name} ({', '.join(self.columns)}) {_given(self.columns)} "
            f"ON CONFLICT ({', '.join(self.keys)}) DO UPDATE SET {grown}"
        )


_COUNT: Final = {"dimension": "text", "grain": "text", "day": "date", "value": "text"}
_COUNTED: Final = ("views", "clicks", "conversions")
SITE: Final = Table(SiteCount._meta.db_table, _COUNT, _COUNTED)
POSTS: Final = Table(PostCount._meta.db_table, {"post_id": "uuid", **_COUNT}, _COUNTED)
CELLS: Final = Table(
    HeatCell._meta.db_table,
    {"sheet_id": "integer", "day": "date", "across": "smallint", "down": "smallint"},
    ("count", "x_sum", "y_sum"),
)
_SHEETS: Final = HeatSheet._meta.db_table
_SHEET: Final = {
    "post_id": "uuid", "event_type": "text", "module_id": "text", "device": "text", "version": "integer",
}  # fmt: skip


def add(tallies: Tallies, months_to: date) -> None:
    """Add them to what is there, and what came late to its month, too.

    The caller holds the transaction, and is the only one who adds.
    """
    counts = [*tallies.counts.items(), *_months(tallies, months_to).items()]
    _write(SITE, ((key[1:], numbers) for key, numbers in counts if not key[0]))
    _write(POSTS, ((key, numbers) for key, numbers in counts if key[0]))
    _write(CELLS, _numbered(tallies.cells))


def _months(days: Tallies, end: date) -> Mapping[CountKey, list[int]]:
    """Of the days before the end."""
    months: defaultdict[CountKey, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (post, dimension, _, day, value), numbers in days.counts.items():
        if day < end:
            sums = months[post, dimension, Grain.MONTH.value, day.replace(day=1), value]
            sums[:] = map(add_numbers, sums, numbers)
    return months


def _numbered(
    cells: Mapping[CellKey, list[int]],
) -> Iterable[tuple[tuple[Value, ...], list[int]]]:
    """The cells with the ids of their sheets. Two statements."""
    ids = _sheets(list(dict.fromkeys(key[0] for key in cells)))
    return (((ids[key[0]], *key[1:]), numbers) for key, numbers in cells.items())


def _sheets(keys: Sequence[SheetKey]) -> dict[SheetKey, int]:
    """Their ids; those that are new are made."""
    if not keys:
        return {}
    given = [dict(zip(("place", *_SHEET), (n, *key), strict=True)) for n, key in enumerate(keys)]
    values = [orjson.dumps(given).decode()]
    source = f"({_given({'place': 'integer', **_SHEET})}) AS given"
    same = " AND ".join(f"known.{name} = given.{name}" for name in _SHEET)
    names = ", ".join(_SHEET)
    # ON CONFLICT would use up an id for each that is there. The names are those of this file.
    make = (
        f"INSERT INTO {_SHEETS} ({names}) SELECT {names} FROM {source} "  # noqa: S608
        f"WHERE NOT EXISTS (SELECT 1 FROM {_SHEETS} AS known WHERE {same})"
    )
    find = f"SELECT place, known.id FROM {source} JOIN {_SHEETS} AS known ON {same}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(make, values)
        cursor.execute(find, values)
        return {keys[place]: id_ for place, id_ in cursor.fetchall()}


def _given(columns: Columns) -> str:
    """The rows of one JSON parameter, as a query."""
    if connection.vendor == "postgresql":
        typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        return f"SELECT {', '.join(columns)} FROM json_to_recordset(%s::json) AS given({typed})"  # noqa: S608
    taken = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in columns)
    return f"SELECT {taken} FROM json_each(%s) WHERE true"  # noqa: S608


def _write(table: Table, rows: Iterable[tuple[tuple[Value, ...], list[int]]]) -> None:
    # In the order of the index: neighbours are on one page of it.
    ordered = sorted(rows, key=lambda row: row[0])
    with connection.cursor() as cursor:
        for begin in range(0, len(ordered), _ROWS):
            part = [
                dict(zip(table.columns, (*key, *numbers), strict=True))
                for key, numbers in ordered[begin : begin + _ROWS]
            ]
            cursor.execute(table.statement(), [orjson.dumps(part).decode()])
