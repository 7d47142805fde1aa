"""Adds events up into figures: each once, whoever is killed when.

What was counted and how far moves in one transaction, and only one adds at a time. A chunk of events is written with
one statement for each table, whatever there is to count. Months that are over get counts of their own, made from
those of their days, so that long periods are read from few rows.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from time import monotonic
from typing import Final

import orjson
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import Min, Subquery
from django.utils import timezone

from analytics.ingest.event_store import last_settled_id
from analytics.models import AnalyticsEvent, Grain, HeatBatch, PostCount, RollUp, SiteCount
from analytics.periods import day_of, today
from analytics.rollups.heat_batches import HITS, find_hits, insert_batches, insert_sheets
from analytics.rollups.rollup_sql import (
    CHUNK,
    MAX_HOST_LENGTH,
    SUMS,
    dialect,
    post_counts,
    read_chunk,
    site_counts,
    sum_chunk,
)
from proofroom.core.database.sqlite import short_busy_timeout

logger = logging.getLogger(__name__)
CHUNK_SIZE: Final = 20_000
"""Events of one transaction: what a report counts at most before it is read."""
_SCHEDULED_CHUNK_SIZES: Final = {"postgresql": 200_000, "sqlite": 50_000}
"""Of the scheduler's, by database: what counts alike is written once. In SQLite, whoever writes waits for it."""
_STATE_ID: Final = 1
"""The id of the only `RollUp`."""
_REPORT_TIMEOUT: Final = 0.5
"""Seconds for which a report waits for who writes."""


def is_waiting() -> bool:
    """Return whether there are events that are not counted. One statement."""
    newest = AnalyticsEvent.objects.order_by("-id").values("id")[:1]
    state = RollUp.objects.filter(pk=_STATE_ID).values_list("counted_to", Subquery(newest)).first()
    if state is None:
        return AnalyticsEvent.objects.exists()
    counted_to, last = state
    return last is not None and last > counted_to


def add_up(limit: int = CHUNK_SIZE) -> int:
    """Count up to that many events; answers how many. 0 where another process is at it, or nothing is new."""
    if not is_waiting():
        return 0
    began = timezone.now()
    settled = last_settled_id()
    if settled is None:
        return 0
    # Not in the transaction: others would wait for its end to see whether there is such a row.
    RollUp.objects.bulk_create([RollUp(pk=_STATE_ID)], ignore_conflicts=True)
    with transaction.atomic():
        state = lock_state(wait=False)
        if state is None:
            return 0
        chunk = count_chunk(state.counted_to, settled, limit, state.months_to)
        is_all = chunk.events < limit
        state.counted_to = max(state.counted_to, settled) if is_all else chunk.to
        state.counted_at = began if is_all else chunk.came_at
        state.save(update_fields=["counted_to", "counted_at"])
        return chunk.events


def catch_up() -> None:
    """Count a part of what came since, before a report is read.

    Where that fails, as in a busy database, the report is read without it.
    """
    try:
        with short_busy_timeout(_REPORT_TIMEOUT):
            add_up()
    except OperationalError as error:
        logger.info("a report is read without what came last: %s", error)
    except DatabaseError:
        logger.exception("a report is read without what came last, as it cannot be added up")


def add_all(seconds: float) -> int:
    """Count all, or as much as goes in that time. Answers how many."""
    ends = monotonic() + seconds
    counted = 0
    while monotonic() < ends:
        began = timezone.now()
        added = add_up(_SCHEDULED_CHUNK_SIZES[connection.vendor])
        counted += added
        if not added:
            if not is_waiting():
                RollUp.objects.update_or_create(pk=_STATE_ID, defaults={"counted_at": began})
            break
    return counted


def lock_state(*, wait: bool) -> RollUp | None:
    """The one row, held until the transaction ends. None where nothing was ever counted, or where it is held
    already and the caller will not wait."""
    rows = RollUp.objects.select_for_update(skip_locked=not wait)
    return rows.filter(pk=_STATE_ID).first()


def months_to() -> date:
    """The first day whose month has no counts of its own. One statement."""
    return RollUp.objects.values_list("months_to", flat=True).first() or date.min


def close_months(now: datetime | None = None) -> None:
    """Make the counts of all months that are over. Safe to run twice; the next run makes what this one cannot."""
    end = day_of(now or timezone.now()).replace(day=1)
    if not RollUp.objects.filter(months_to__lt=end).exists():
        return
    with transaction.atomic():
        state = lock_state(wait=False)
        if state is None or state.months_to >= end:
            return
        for table in (SITE, POSTS):
            sum_months(table, state.months_to, end)
        state.months_to = end
        state.save(update_fields=["months_to"])


def sum_months(table: RollupTable, first: date, end: date) -> None:
    """Add what the days from the first until the end come to, by month."""
    keys = [name for name in table.keys if name not in ("grain", "day")]
    sums = ", ".join(f"SUM({name})" for name in table.sums)
    is_on_postgresql = connection.vendor == "postgresql"
    month = "date_trunc('month', day)::date" if is_on_postgresql else "date(day, 'start of month')"
    # The names are those of the table; the values are parameters.
    statement = (
        f"INSERT INTO {table.name} (grain, day, {', '.join([*keys, *table.sums])}) "  # noqa: S608  # names of our own
        f"SELECT 'month', {month}, {', '.join(keys)}, {sums} FROM {table.name} "
        f"WHERE grain = 'day' AND day >= %s AND day < %s GROUP BY {', '.join([month, *keys])}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [first, end])


@dataclass(frozen=True, slots=True)
class Recount:
    """From which day on figures were made anew, and of how many events. Earlier days stay as they were."""

    first: date | None
    events: int


@transaction.atomic
def rebuild_rollups() -> Recount:
    """Make the figures of all days anew whose events are stored whole. What was not counted yet stays so.

    In one transaction: readers see the old figures or the new ones, and a killed recount changed nothing.
    """
    state = lock_state(wait=True)
    oldest = AnalyticsEvent.objects.aggregate(oldest=Min("created_at"))["oldest"]
    if state is None or oldest is None:
        return Recount(None, 0)
    # The first day of which no event can be missing: old ones are deleted by age, in the middle of a day.
    first: date = day_of(oldest)
    if SiteCount.objects.filter(grain=Grain.DAY, day__lt=first).exists():
        first += timedelta(days=1)
    days = settings.CMS_ENV.analytics_retention_days
    if days:
        kept_since = today() - timedelta(days=days)
        first = max(first, kept_since + timedelta(days=1))
    month = first.replace(day=1)
    HeatBatch.objects.filter(day__gte=first).delete()
    for model in (SiteCount, PostCount):
        model._default_manager.filter(grain=Grain.DAY, day__gte=first).delete()
        model._default_manager.filter(grain=Grain.MONTH, day__gte=month).delete()
    if first != month and month < state.months_to:
        for table in (SITE, POSTS):
            sum_months(table, month, first)
    since = datetime.combine(first, time(), UTC)
    after, counted, size = 0, 0, _SCHEDULED_CHUNK_SIZES[connection.vendor]
    while True:
        chunk = count_chunk(after, state.counted_to, size, state.months_to, since)
        if not chunk.events:
            break
        counted += chunk.events
        after = chunk.to
    return Recount(first, counted)


_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII,
)
_WORK_MEM: Final = "64MB"
"""For sums of one statement on PostgreSQL."""
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
Values = Mapping[str, str | int | datetime | None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events in the order of their ids: how many, the last id, and when that one came."""

    events: int
    to: int
    came_at: datetime | None


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


def count_chunk(
    after: int, to: int, limit: int, months_to: date, since: datetime = BEGINNING
) -> Chunk:
    """Add the next events to what is there, up to that many, and what came late to its month, too.

    They are those after an id, to one with it, that came `since` then. The caller holds the transaction, and is the
    only one who adds.
    """
    sql = dialect()
    of_chunk: Values = {
        "after": after,
        "to": to,
        "limit": limit,
        "since": connection.ops.adapt_datetimefield_value(since),
    }
    with connection.cursor() as cursor:
        # Until the transaction ends: room for sums, and no compiling, which takes longer than it saves here.
        if connection.vendor == "postgresql":
            cursor.execute(f"SET LOCAL work_mem = '{_WORK_MEM}'")
            cursor.execute("SET LOCAL jit = off")
        cursor.execute(read_chunk(sql), of_chunk)
        cursor.execute(f"SELECT count(*), max(id) FROM {CHUNK}")  # noqa: S608  # a name of our own
        events, last = cursor.fetchone()
        if events:
            hosts = orjson.dumps(_find_hosts()).decode()
            months = {"months_to": months_to.isoformat()}
            cursor.execute(sum_chunk(sql), {"hosts": hosts})
            SITE.add(site_counts(sql), months)
            POSTS.add(post_counts(sql), months)
            cursor.execute(find_hits(sql))
            cursor.execute(insert_sheets())
            cursor.execute(insert_batches(sql), {"last": last})
        # With a transaction that fails they go by themselves.
        for name in (CHUNK, SUMS, HITS):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
    if not events:
        return Chunk(0, after, None)
    came_at = AnalyticsEvent.objects.values_list("created_at", flat=True).get(pk=last)
    return Chunk(events, last, came_at)


def _find_hosts() -> dict[str, str]:
    """What pages said of where visitors came from, with the host that it is. What is none is left out."""
    own = tuple(settings.ALLOWED_HOSTS)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT referrer FROM {CHUNK}")  # noqa: S608  # a name of our own
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
