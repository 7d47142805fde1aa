"""Adds events up into figures, each exactly once, even if processes are killed.

Counts and the position move in one transaction, and only one process adds at a time. A chunk of
events is written with one statement for each table. Finished months get their own counts, summed
from their days, so that long periods are read from few rows.
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
"""Maximum events of one transaction, and so of the catch-up before a report."""
_SCHEDULED_CHUNK_SIZES: Final = {"postgresql": 200_000, "sqlite": 50_000}
"""Chunk sizes of the scheduler. Larger chunks write equal counts once; on SQLite other writers wait meanwhile."""
_STATE_ID: Final = 1
"""Primary key of the only `RollUp`."""
_REPORT_TIMEOUT: Final = 0.5
"""Seconds a report waits for a writer."""


def is_waiting() -> bool:
    """Return True if there are events that are not counted. One statement."""
    newest = AnalyticsEvent.objects.order_by("-id").values("id")[:1]
    state = RollUp.objects.filter(pk=_STATE_ID).values_list("counted_to", Subquery(newest)).first()
    if state is None:
        return AnalyticsEvent.objects.exists()
    counted_to, last = state
    return last is not None and last > counted_to


def add_up(limit: int = CHUNK_SIZE) -> int:
    """Count up to `limit` events; return their number. Returns 0 if another process is counting, or
    nothing is new.
    """
    if not is_waiting():
        return 0
    began = timezone.now()
    settled = last_settled_id()
    if settled is None:
        return 0
    # Outside of the transaction, because other processes would wait for the uncommitted row.
    RollUp.objects.bulk_create([RollUp(pk=_STATE_ID)], ignore_conflicts=True)
    with transaction.atomic():
        state = lock_state(wait=False)
        if state is None:
            return 0
        chunk = count_chunk(state.counted_to, settled, limit, state.months_to)
        is_all = chunk.events < limit
        # If all were read, ids up to `settled` are done even where rolled-back inserts left gaps.
        state.counted_to = max(state.counted_to, settled) if is_all else chunk.to
        state.counted_at = began if is_all else chunk.came_at
        state.save(update_fields=["counted_to", "counted_at"])
        return chunk.events


def catch_up() -> None:
    """Count a part of the new events before a report is read.

    If that fails, for example in a busy database, the report is read without them.
    """
    try:
        with short_busy_timeout(_REPORT_TIMEOUT):
            add_up()
    except OperationalError as error:
        logger.info("a report lacks the latest events: %s", error)
    except DatabaseError:
        logger.exception("a report lacks the latest events, because they cannot be aggregated")


def add_all(seconds: float) -> int:
    """Count all new events, or as many as possible in that time. Return their number."""
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
    """Lock the row until the transaction ends. Return None if nothing was ever counted, or if it is
    locked and `wait` is False.
    """
    rows = RollUp.objects.select_for_update(skip_locked=not wait)
    return rows.filter(pk=_STATE_ID).first()


def months_to() -> date:
    """Return the first day without a monthly count. One statement."""
    return RollUp.objects.values_list("months_to", flat=True).first() or date.min


def close_months(now: datetime | None = None) -> None:
    """Create the counts of all finished months. Idempotent; if the row is locked, the next run does it."""
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
    """Add the counts from `first` until before `end` to the months."""
    keys = [name for name in table.keys if name not in ("grain", "day")]
    sums = ", ".join(f"SUM({name})" for name in table.sums)
    is_on_postgresql = connection.vendor == "postgresql"
    month = "date_trunc('month', day)::date" if is_on_postgresql else "date(day, 'start of month')"
    # The names come from the table; the values are parameters.
    statement = (
        f"INSERT INTO {table.name} (grain, day, {', '.join([*keys, *table.sums])}) "  # noqa: S608  # names of our own
        f"SELECT 'month', {month}, {', '.join(keys)}, {sums} FROM {table.name} "
        f"WHERE grain = 'day' AND day >= %s AND day < %s GROUP BY {', '.join([month, *keys])}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [first, end])


@dataclass(frozen=True, slots=True)
class Recount:
    """The first recomputed day, and the number of its events. Earlier days stay unchanged."""

    first: date | None
    events: int


@transaction.atomic
def rebuild_rollups() -> Recount:
    """Recompute the figures of all days whose events are stored completely. Uncounted events stay
    uncounted.

    In one transaction: readers see the old or the new figures, and a killed process changes
    nothing.
    """
    state = lock_state(wait=True)
    oldest = AnalyticsEvent.objects.aggregate(oldest=Min("created_at"))["oldest"]
    if state is None or oldest is None:
        return Recount(None, 0)
    # The first complete day, because events are deleted by age in the middle of a day.
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
    # The month of the first day also needs the days that stay unchanged.
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
"""Memory for the sums of one statement on PostgreSQL."""
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
Values = Mapping[str, str | int | datetime | None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events in order of their ids: their number, the last id, and its time."""

    events: int
    to: int
    came_at: datetime | None


@dataclass(frozen=True, slots=True)
class RollupTable:
    """A table of sums: its key columns, and the summed columns."""

    name: str
    keys: Sequence[str]
    sums: Sequence[str]

    def add(self, rows: str, values: Values) -> None:
        """Add the rows of a query to the table; existing rows are increased."""
        # The names are constants of this module; the values are parameters.
        increments = ", ".join(
            f"{name} = {self.name}.{name} + excluded.{name}" for name in self.sums
        )
        statement = (
            f"INSERT INTO {self.name} ({', '.join([*self.keys, *self.sums])}) {rows} "
            f"ON CONFLICT ({', '.join(self.keys)}) DO UPDATE SET {increments}"
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
    """Add up to `limit` events to the figures, including late ones to their month.

    They have ids after `after` up to `to` and times from `since` on. The caller holds the
    transaction and the lock.
    """
    sql = dialect()
    of_chunk: Values = {
        "after": after,
        "to": to,
        "limit": limit,
        "since": connection.ops.adapt_datetimefield_value(since),
    }
    with connection.cursor() as cursor:
        # Until the transaction ends: memory for sums, and no JIT, which takes longer than it saves
        # here.
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
        # A failed transaction rolls them back.
        for name in (CHUNK, SUMS, HITS):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
    if not events:
        return Chunk(0, after, None)
    came_at = AnalyticsEvent.objects.values_list("created_at", flat=True).get(pk=last)
    return Chunk(events, last, came_at)


def _find_hosts() -> dict[str, str]:
    """Return the reported referrers with their hosts. Invalid ones are omitted."""
    own = tuple(settings.ALLOWED_HOSTS)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT referrer FROM {CHUNK}")  # noqa: S608  # a name of our own
        texts = [text for (text,) in cursor.fetchall() if isinstance(text, str)]
    return {text: host for text in texts if (host := _referrer_host(text, own))}


@lru_cache(maxsize=4_096)
def _referrer_host(text: str, own: tuple[str, ...]) -> str:
    """Return the host if it is a domain name and not the site's own; otherwise an empty string."""
    host = text.lower().partition(":")[0].removesuffix(".")
    if len(text) > MAX_HOST_LENGTH or not _HOST.fullmatch(host):
        return ""
    for name in map(str.lower, own):
        # A leading dot in `ALLOWED_HOSTS` means the domain and all its subdomains.
        if host == name.removeprefix(".") or (name.startswith(".") and host.endswith(name)):
            return ""
    return host
