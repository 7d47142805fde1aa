"""Aggregates of millions of events in minutes, by SQL alone, equal to the product's.

Only for empty tables and the events of `analytics_rows`. `measure` in `analytics_reports` first compares the result
with `add_up` over the same events.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from django.db import connection

from analytics.models import AnalyticsEvent, HeatBatch, HeatSheet, PostCount, RollUp, SiteCount

Indexes = list[tuple[str, str]]
_DEVICE: Final = (
    "CASE WHEN viewport_width < 768 THEN 'mobile' WHEN viewport_width < 1100 THEN 'tablet' "
    "ELSE 'desktop' END"
)
_DAY: Final = "(created_at AT TIME ZONE 'UTC')::date"
_ALIKE: Final = f"""
    CREATE UNLOGGED TABLE bench_alike AS
    SELECT {_DAY} AS day, post_id, variation_of, locale, {_DEVICE} AS device, goal,
        CASE WHEN event_type = 'view' THEN coalesce(metadata->>'referrer', '') END AS referrer,
        CASE WHEN event_type = 'click' THEN metadata->>'postModuleId' END AS module,
        count(*) FILTER (WHERE event_type = 'view') AS views, count(*) FILTER (WHERE event_type = 'click') AS clicks,
        count(*) FILTER (WHERE event_type = 'click' AND goal <> '') AS reached
    FROM analytics_analyticsevent WHERE id <= %s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""  # noqa: S608  # no input, here and below
_DIMENSIONS: Final = """
    CROSS JOIN LATERAL (VALUES
        ('total', '', views, clicks, reached),
        ('locale', locale, views, clicks, reached),
        ('device', device, views, clicks, reached),
        ('referrer', referrer, views, 0, 0),
        ('goal', nullif(goal, ''), 0, 0, reached) {more}
    ) AS divided (dimension, value, seen, hit, got)
"""
_OF_POSTS: Final = """,
        ('module', module, 0, clicks, 0),
        ('arm', CASE WHEN arm THEN alike.post_id::text END, views, clicks, reached),
        ('arm', CASE WHEN arm AND goal <> '' THEN alike.post_id || ' ' || goal END, 0, 0, reached)
"""
_GRAINS: Final = """
    CROSS JOIN LATERAL (VALUES
        ('day', day), ('month', CASE WHEN day < %s THEN date_trunc('month', day)::date END)
    ) AS grains (grain, begun)
"""
_SITE: Final = f"""
    INSERT INTO analytics_sitecount (dimension, grain, day, value, views, clicks, conversions)
    SELECT dimension, grain, begun, value, sum(seen), sum(hit), sum(got) FROM bench_alike AS alike
    {_DIMENSIONS.format(more="")} {_GRAINS} WHERE value IS NOT NULL AND begun IS NOT NULL GROUP BY 1, 2, 3, 4
"""  # noqa: S608
_POSTS: Final = f"""
    INSERT INTO analytics_postcount (post_id, dimension, grain, day, value, views, clicks, conversions)
    SELECT counted.id, dimension, grain, begun, value, sum(seen), sum(hit), sum(got) FROM bench_alike AS alike
    CROSS JOIN LATERAL (
        SELECT post_id AS id, post_id = variation_of AS arm
        UNION ALL SELECT variation_of, true WHERE variation_of <> post_id
    ) AS counted {_DIMENSIONS.format(more=_OF_POSTS)} {_GRAINS}
    WHERE value IS NOT NULL AND begun IS NOT NULL AND (dimension <> 'arm' OR counted.id = variation_of)
    GROUP BY 1, 2, 3, 4, 5
"""  # noqa: S608
_CLICKED: Final = f"""
    CREATE UNLOGGED TABLE bench_clicked AS
    SELECT post_id, cell.module, {_DEVICE} AS device, version, day,
        (((cell.down << 7) | cell.across)::bigint << 41) | (1::bigint << 32)
        | ((cell.x - cell.across * cell.side)::bigint << 16) | (cell.y - cell.down * cell.side)::bigint AS cell
    FROM analytics_analyticsevent
    CROSS JOIN LATERAL (SELECT {_DAY} AS day, least(greatest(x / viewport_width, 0), 1) AS px,
        least(greatest(y / viewport_width * 1000, 0), 50000) AS py,
        (metadata->>'moduleX')::float8 AS mx, (metadata->>'moduleY')::float8 AS my) AS placed
    CROSS JOIN LATERAL (VALUES
        ('~', 100, least(floor(px * 100)::int, 99), least(floor(py / 10)::int, 4999),
            floor(px * 10000 + 0.5)::int, floor(py * 10 + 0.5)::int),
        (metadata->>'postModuleId', 10, least(floor(mx * 100)::int, 99), least(floor(my * 100)::int, 99),
            floor(mx * 1000 + 0.5)::int, floor(my * 1000 + 0.5)::int)
    ) AS cell (module, side, across, down, x, y)
    WHERE id <= %s AND event_type = 'click'
"""  # noqa: S608
_SHEETS: Final = """
    INSERT INTO analytics_heatsheet (post_id, event_type, module_id, device, version)
    SELECT DISTINCT post_id, 'click', module, device, version FROM bench_clicked
"""
_BATCHES: Final = """
    INSERT INTO analytics_heatbatch (sheet_id, day, last_event, cells)
    SELECT sheet.id, day, 0, array_agg(cell) FROM bench_clicked AS clicked
    JOIN analytics_heatsheet AS sheet ON sheet.post_id = clicked.post_id AND sheet.module_id = clicked.module
        AND sheet.device = clicked.device AND sheet.version = clicked.version
    GROUP BY sheet.id, day ORDER BY day
"""
_TABLES: Final = [model._meta.db_table for model in (SiteCount, PostCount, HeatSheet, HeatBatch)]


def fill(last: int) -> None:
    """Write the aggregates of all events up to this id, as if the product had added them up at the time of the last
    one.
    """
    months_to = moment_of(last).date().replace(day=1)
    with connection.cursor() as cursor:
        # Indexes and constraints are created at the end, for millions of rows at once.
        dropped = _drop_indexes()
        cursor.execute("SET work_mem = '512MB'")
        cursor.execute("SET maintenance_work_mem = '512MB'")
        cursor.execute(_ALIKE, [last])
        for statement in (_SITE, _POSTS):
            cursor.execute(statement, [months_to])
        cursor.execute(_CLICKED, [last])
        for statement in (_SHEETS, _BATCHES):
            cursor.execute(statement)
        cursor.execute("DROP TABLE bench_alike, bench_clicked")
        for table, statement in dropped:
            cursor.execute(
                f"ALTER TABLE {table} ADD {statement}"
                if statement.startswith("CONS")
                else statement
            )
        cursor.execute("RESET work_mem")
        for table in _TABLES:
            cursor.execute(f"VACUUM ANALYZE {table}")
    RollUp.objects.update_or_create(pk=1, defaults={"counted_to": last, "months_to": months_to})


def moment_of(event: int) -> datetime:
    found = AnalyticsEvent.objects.filter(id__lte=event).order_by("-id")[0]
    return found.created_at.astimezone(UTC)


def _drop_indexes() -> Indexes:
    found: Indexes = []
    with connection.cursor() as cursor:
        for table in _TABLES:
            cursor.execute(
                "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
                "WHERE conrelid = %s::regclass AND contype IN ('u', 'p')",
                [table],
            )
            for name, definition in cursor.fetchall():
                cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
                found.append((table, f"CONSTRAINT {name} {definition}"))
            cursor.execute(
                "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexname NOT LIKE '%%_pkey'",
                [table],
            )
            for name, definition in cursor.fetchall():
                cursor.execute(f"DROP INDEX {name}")
                found.append((table, definition))
    return found
