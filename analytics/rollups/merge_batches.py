"""Merges the batches of heatmaps after their day is over."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone

from analytics.models import HeatBatch
from analytics.periods import day_of
from analytics.rollups.aggregate import lock_state
from analytics.rollups.heat_batches import BATCHES, MAX_HITS, PLACE, SUMS, pack_cell
from analytics.rollups.rollup_sql import Dialect, dialect
from proofroom.core.independent_steps import independent_steps

_MERGED: Final = "analytics_merged_batches"


def merge_batches(now: datetime | None = None) -> int:
    """Merge the batches of each sheet on finished days. Return the number of merged batches.

    Idempotent, and safe to kill; batches that arrive late are merged by the next run.
    """
    several = (
        HeatBatch.objects.filter(day__lt=day_of(now or timezone.now()))
        .values("sheet_id", "day")
        .annotate(number=Count("last_event"))
        .filter(number__gt=1)
    )
    days: list[date] = sorted({row["day"] for row in several})
    made = 0
    with independent_steps() as step:
        for day in days:
            with step(f"merging the batches of {day}"):
                made += _merge_day(day)
    return made


@transaction.atomic
def _merge_day(day: date) -> int:
    lock_state(wait=True)
    with connection.cursor() as cursor:
        cursor.execute(
            _select_merged(dialect()), {"day": connection.ops.adapt_datefield_value(day)}
        )
        cursor.execute(
            f"DELETE FROM {BATCHES} WHERE (sheet_id, day) IN (SELECT sheet_id, day FROM {_MERGED})"  # noqa: S608
        )
        columns = "sheet_id, day, last_event, cells"
        cursor.execute(f"INSERT INTO {BATCHES} ({columns}) SELECT {columns} FROM {_MERGED}")  # noqa: S608
        made: int = cursor.rowcount
        cursor.execute(f"DROP TABLE {_MERGED}")
    return made


def _select_merged(sql: Dialect) -> str:
    """Return the SQL that creates the table of merged batches of a day. A cell with too many hits gets
    several numbers.
    """
    key = "sheet_id, day, last_event"
    of_batch = f"""{BATCHES} AS batch JOIN several
        ON several.sheet_id = batch.sheet_id AND batch.day = several.day"""

    def part_of(name: str) -> str:
        return f"{name} / parts + CASE WHEN number < {name} %% parts THEN 1 ELSE 0 END"

    cell = pack_cell("place", *map(part_of, ("hits", "along", "deep")))
    return f"""
        CREATE TEMPORARY TABLE {_MERGED} AS
        WITH RECURSIVE several AS MATERIALIZED (
            SELECT sheet_id, day, max(last_event) AS last_event FROM {BATCHES} WHERE day = %(day)s
            GROUP BY sheet_id, day HAVING count(*) > 1
        ), hit AS (
            {sql.unlisted.format("several.sheet_id, several.day, several.last_event", of_batch)}
        ), summed AS MATERIALIZED (
            SELECT {key}, {PLACE} AS place, {SUMS} FROM hit GROUP BY {key}, {PLACE}
        ), part (number) AS (
            SELECT 0 UNION ALL
            SELECT number + 1 FROM part WHERE number < (SELECT (max(hits) - 1) / {MAX_HITS} FROM summed)
        ), merged AS (
            SELECT {key}, {cell} AS cell
            FROM (SELECT summed.*, (hits + {MAX_HITS - 1}) / {MAX_HITS} AS parts FROM summed) AS divided
            JOIN part ON number < parts
        )
        SELECT {key}, {sql.listed.format("cell", "true")} AS cells FROM merged GROUP BY {key}
    """  # noqa: S608
