"""Writes a chunk of events into the figures: one statement for each table, whatever there is to count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

import orjson
from django.conf import settings
from django.db import connection
from django.db.models import Count, Max

from analytics.models import AnalyticsEvent, HeatCell, PostCount, SiteCount
from analytics.rollups.rollup_sql import (
    EVENTS,
    IN_CHUNK,
    Dialect,
    dialect,
    heat_cells,
    insert_sheets,
    post_counts,
    site_counts,
)

_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII,
)
MAX_HOST_LENGTH: Final = 260
"""Of what is looked at."""
_WORK_MEM: Final = "64MB"
"""For sums of one statement on PostgreSQL."""
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
Values = Mapping[str, str | int | datetime | None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The events after an id, to one with it: how many they are, and when the last of them came.

    `since` leaves out those that came before.
    """

    after: int
    to: int
    events: int
    came_at: datetime | None
    since: datetime = BEGINNING


def next_chunk(after: int, to: int, limit: int, since: datetime = BEGINNING) -> Chunk:
    """Return the next events, up to that many. One statement, or two."""
    chosen = AnalyticsEvent.objects.filter(id__gt=after, id__lte=to)
    if since != BEGINNING:
        chosen = chosen.filter(created_at__gte=since)
    found = chosen.order_by("id").values("id")[:limit].aggregate(events=Count("id"), last=Max("id"))
    last = found["last"]
    if last is None:
        return Chunk(after, after, 0, None, since)
    came_at = AnalyticsEvent.objects.values_list("created_at", flat=True).get(pk=last)
    return Chunk(after, last, found["events"], came_at, since)


@dataclass(frozen=True, slots=True)
class RollupTable:
    """A table that rows are added to: the columns that tell them apart, and those that are summed."""

    name: str
    keys: Sequence[str]
    sums: Sequence[str]

    def add(self, rows: str, values: Values) -> None:
        """Add the rows of a query; what is there grows by what comes."""
        # The names are those of this file; the values are parameters.
        grown = ", ".join(f"{name} = {self.name}.{name} + excluded.{name}" for name in self.sums)
        statement = (
            f"INSERT INTO {self.name} ({', '.join([*self.keys, *self.sums])}) {rows} "
            f"ON CONFLICT ({', '.join(self.keys)}) DO UPDATE SET {grown}"
        )
        with connection.cursor() as cursor:
            cursor.execute(statement, values)


_COUNT_KEY: Final = ("dimension", "grain", "day", "value")
_COUNT_SUMS: Final = ("views", "clicks", "conversions")
SITE: Final = RollupTable(SiteCount._meta.db_table, _COUNT_KEY, _COUNT_SUMS)
POSTS: Final = RollupTable(PostCount._meta.db_table, ("post_id", *_COUNT_KEY), _COUNT_SUMS)
CELLS: Final = RollupTable(
    HeatCell._meta.db_table, ("sheet_id", "day", "across", "down"), ("count", "x_sum", "y_sum")
)


def write_chunk(chunk: Chunk, months_to: date) -> None:
    """Add its events to what is there, and what came late to its month, too.

    The caller holds the transaction, and is the only one who adds.
    """
    sql = dialect()
    of_chunk: Values = {
        "after": chunk.after,
        "to": chunk.to,
        "since": connection.ops.adapt_datetimefield_value(chunk.since),
    }
    with connection.cursor() as cursor:
        # Until the transaction ends: room for sums, and no compiling, which takes longer than it saves here.
        if connection.vendor == "postgresql":
            cursor.execute(f"SET LOCAL work_mem = '{_WORK_MEM}'")
            cursor.execute("SET LOCAL jit = off")
        hosts = orjson.dumps(_find_hosts(sql, of_chunk)).decode()
        values = {**of_chunk, "months_to": months_to.isoformat(), "hosts": hosts}
        SITE.add(site_counts(sql), values)
        POSTS.add(post_counts(sql), values)
        cursor.execute(insert_sheets(sql), of_chunk)
        CELLS.add(heat_cells(sql), of_chunk)


def _find_hosts(sql: Dialect, values: Values) -> dict[str, str]:
    """What pages said of where visitors came from, with the host that it is. What is none is left out."""
    said = sql.text.format("referrer")
    statement = (
        f"SELECT DISTINCT {said} FROM {EVENTS} "  # noqa: S608  # names of our own
        f"WHERE {IN_CHUNK} AND event_type = 'view' AND length({said}) <= {MAX_HOST_LENGTH}"
    )
    own = tuple(settings.ALLOWED_HOSTS)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        texts = [text for (text,) in cursor.fetchall() if isinstance(text, str)]
    return {text: host for text in texts if (host := _referrer_host(text, own))}


@lru_cache(maxsize=4_096)
def _referrer_host(text: str, own: tuple[str, ...]) -> str:
    """The host, where it is a name with a dot and none of the site's own; else nothing."""
    host = text.lower().partition(":")[0].removesuffix(".")
    if len(text) > MAX_HOST_LENGTH or not _HOST.fullmatch(host):
        return ""
    for name in map(str.lower, own):
        # `.example.com` of `ALLOWED_HOSTS` is a domain with all below it.
        if host == name.removeprefix(".") or (name.startswith(".") and host.endswith(name)):
            return ""
    return host
