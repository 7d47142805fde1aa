"""Tallies into tables: one statement for each table, whatever there is to write, on both databases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import orjson
from django.db import connection

from analytics.figures.tallies import Tallies
from analytics.models import HeatCell, PostCount, SiteCount

_ROWS: Final = 10_000
"""Of one statement."""
Value = str | int | date


@dataclass(frozen=True, slots=True)
class Table:
    """Where rows are added to: the columns that tell them apart, with their types, and those that are summed."""

    name: str
    keys: Mapping[str, str]
    sums: Sequence[str]

    def statement(self) -> str:
        """Adds the rows of one JSON parameter; what is there grows by what comes."""
        # The names are those of this file; the values are one parameter.
        columns = {**self.keys, **dict.fromkeys(self.sums, "bigint")}
        names = ", ".join(columns)
        grown = ", ".join(f"{name} = {self.name}.{name} + excluded.{name}" for name in self.sums)
        if connection.vendor == "postgresql":
            typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            source = f"SELECT {names} FROM json_to_recordset(%s::json) AS given({typed})"  # noqa: S608
        else:
            taken = ", ".join(f"json_extract(value, '$.{name}')" for name in columns)
            source = f"SELECT {taken} FROM json_each(%s) WHERE true"  # noqa: S608
        return (
            f"INSERT INTO {self.name} ({names}) {source} "
            f"ON CONFLICT ({', '.join(self.keys)}) DO UPDATE SET {grown}"
        )


_COUNT: Final = {"dimension": "text", "grain": "text", "day": "date", "value": "text"}
_COUNTED: Final = ("views", "clicks", "conversions")
SITE: Final = Table(SiteCount._meta.db_table, _COUNT, _COUNTED)
POSTS: Final = Table(PostCount._meta.db_table, {"post_id": "uuid", **_COUNT}, _COUNTED)
CELLS: Final = Table(
    HeatCell._meta.db_table,
    {
        "post_id": "uuid", "event_type": "text", "grain": "text", "day": "date", "version": "integer",
        "device": "text", "module_id": "text", "across": "smallint", "down": "integer",
    },
    ("count", "x_sum", "y_sum"),
)  # fmt: skip


def add(tallies: Tallies) -> None:
    """Add them to what is there. The caller holds the transaction, and is the only one who adds."""
    counts = tallies.counts.items()
    _write(SITE, ((key[1:], numbers) for key, numbers in counts if not key[0]))
    _write(POSTS, ((key, numbers) for key, numbers in counts if key[0]))
    _write(CELLS, tallies.cells.items())


def _write(table: Table, rows: Iterable[tuple[tuple[Value, ...], list[int]]]) -> None:
    names = (*table.keys, *table.sums)
    # In the order of the index: neighbours are on one page of it.
    ordered = sorted(rows, key=lambda row: row[0])
    with connection.cursor() as cursor:
        for begin in range(0, len(ordered), _ROWS):
            part = [
                dict(zip(names, (*key, *numbers), strict=True))
                for key, numbers in ordered[begin : begin + _ROWS]
            ]
            cursor.execute(table.statement(), [orjson.dumps(part).decode()])
