"""A chunk of events into figures: one statement for each table, whatever there is to count, on both databases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Final

import orjson
from django.conf import settings
from django.db import connection

from analytics.models import HeatCell, PostCount, SiteCount
from analytics.rollups import click_positions
from analytics.rollups.chunks import Chunk
from analytics.rollups.counts import CHOSEN, EVENTS, post_counts, site_counts
from analytics.rollups.sql_dialects import Dialect, dialect

_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII,
)
MAX_HOST_LENGTH: Final = 260
"""Of what is looked at."""


def referrer_of(given: object) -> str:
    """The host, where it is a name with a dot and none of the site's own; else nothing."""
    if not isinstance(given, str) or len(given) > MAX_HOST_LENGTH:
        return ""
    return _referrer(given, tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=4_096)
def _referrer(given: str, own: tuple[str, ...]) -> str:
    host = given.lower().partition(":")[0].removesuffix(".")
    if not _HOST.fullmatch(host) or any(_is(host, name.lower()) for name in own):
        return ""
    return host


def _is(host: str, own: str) -> bool:
    """Return whether a name of `ALLOWED_HOSTS` is the host: `.example.com` is a domain with all below it."""
    if own.startswith("."):
        return host == own[1:] or host.endswith(own)
    return host == own


_MEMORY: Final = "64MB"
"""For sums of one statement on PostgreSQL."""
Values = Mapping[str, str | int | datetime | None]


@dataclass(frozen=True, slots=True)
class RollupTable:
    """A table that rows are added to: the columns that tell them apart, and those that are summed."""

    name: str
    keys: Sequence[str]
    sums: Sequence[str]

    def statement(self, rows: str) -> str:
        """Adds the rows of a query; what is there grows by what comes."""
        # The names are those of this file; the values are parameters.
        grown = ", ".join(f"{name} = {self.name}.{name} + excluded.{name}" for name in self.sums)
        return (
            f"INSERT INTO {self.name} ({', '.join([*self.keys, *self.sums])}) {rows} "
            f"ON CONFLICT ({', '.join(self.keys)}) DO UPDATE SET {grown}"
        )


_COUNT: Final = ("dimension", "grain", "day", "value")
_COUNTED: Final = ("views", "clicks", "conversions")
SITE: Final = RollupTable(SiteCount._meta.db_table, _COUNT, _COUNTED)
POSTS: Final = RollupTable(PostCount._meta.db_table, ("post_id", *_COUNT), _COUNTED)
CELLS: Final = RollupTable(
    HeatCell._meta.db_table, ("sheet_id", "day", "across", "down"), ("count", "x_sum", "y_sum")
)


def add(chunk: Chunk, months_to: date) -> None:
    """Add its events to what is there, and what came late to its month, too.

    The caller holds the transaction, and is the only one who adds.
    """
    words = dialect()
    # Until the transaction ends: room for sums, and no compiling, which takes longer than it saves here.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL work_mem = '{_MEMORY}'")
            cursor.execute("SET LOCAL jit = off")
    of_chunk: Values = {
        "after": chunk.after,
        "to": chunk.to,
        "since": connection.ops.adapt_datetimefield_value(chunk.since),
    }
    values = {**of_chunk, "months_to": months_to.isoformat(), "hosts": _hosts(words, of_chunk)}
    _write(SITE, site_counts(words), values)
    _write(POSTS, post_counts(words), values)
    _run(click_positions.new_sheets(words), of_chunk)
    _write(CELLS, click_positions.cells(words), of_chunk)


def _hosts(words: Dialect, values: Values) -> str:
    """What pages said of where visitors came from, with the host that it is, as JSON. What is none is left out."""
    said = words.said.format("referrer")
    statement = (
        f"SELECT DISTINCT {said} FROM {EVENTS} "  # noqa: S608  # names of our own
        f"WHERE {CHOSEN} AND event_type = 'view' AND length({said}) <= {MAX_HOST_LENGTH}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        told = [given for (given,) in cursor.fetchall() if isinstance(given, str)]
    return orjson.dumps({given: host for given in told if (host := referrer_of(given))}).decode()


def _write(table: RollupTable, rows: str, values: Values) -> None:
    _run(table.statement(rows), values)


def _run(statement: str, values: Values) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
