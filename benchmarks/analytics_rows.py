"""Views and clicks by the million, generated in the database: always with the same skew, in order of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection

from analytics.ingest.partitions import create_partitions_ahead
from analytics.models import AnalyticsEvent

DAYS: Final = 396
"""Thirteen months."""
END: Final = datetime(2026, 11, 22, tzinfo=UTC)
START: Final = END - timedelta(days=DAYS)
POSTS: Final = 1_000
BATCH: Final = 500_000

_POSTS: Final = """
    CREATE TABLE bench_post AS
    SELECT row_number() OVER (ORDER BY md5(p.id::text)) AS rank, p.id, p.locale, p.path,
        array_agg(m.id::text ORDER BY m.order_index) AS modules
    FROM content_post p JOIN content_postmodule m ON m.post_id = p.id
    WHERE p.status = 'published' AND p.deleted_at IS NULL AND p.variation_of_id IS NULL
    GROUP BY p.id ORDER BY md5(p.id::text) LIMIT %s
"""
_EVENTS: Final = """
    INSERT INTO analytics_analyticsevent (event_type, post_id, x, y, viewport_width, metadata, locale, version,
        variation_of, goal, created_at)
    SELECT CASE WHEN is_click THEN 'click' ELSE 'view' END, CASE WHEN arm THEN %(arm)s::uuid ELSE p.id END,
        CASE WHEN is_click THEN round((width * mx)::numeric, 1) END,
        CASE WHEN is_click THEN round(((width * 0.8) * (module - 1 + my))::numeric, 1) END,
        width,
        CASE WHEN is_click THEN jsonb_build_object(
            'path', p.path, 'selector', '#main > section:nth-of-type(' || module || ') > a.button',
            'postModuleId', p.modules[module], 'moduleX', round(mx::numeric, 3),
            'moduleY', round(my::numeric, 3), 'version', version)
        ELSE jsonb_build_object(
            'path', p.path, 'version', version,
            'referrer', CASE WHEN r < 0.6 THEN 'site-' || floor(exp(r / 0.6 * ln(190)))::int || '.example' END
        ) END,
        p.locale, version, CASE WHEN p.rank = 2 THEN p.id END,
        CASE WHEN is_click AND g < 0.1 THEN 'hero' ELSE '' END, moment
    FROM (
        SELECT n, %(start)s::timestamptz + (n / %(total)s::float8) * interval '396 days' AS moment,
            1 + floor((n / %(total)s::float8) * 6)::int AS version,
            r, g, is_click, module, width,
            least(greatest(CASE WHEN is_hot THEN 0.5 + (a + b - 1) * 0.05 ELSE a END, 0), 1) AS mx,
            least(greatest(CASE WHEN is_hot THEN 0.7 + (b + r - 1) * 0.04 ELSE b END, 0), 1) AS my,
            floor(exp(z * ln((SELECT count(*) FROM bench_post) + 0.999)))::int AS rank, t < 0.5 AS half
        FROM (
            SELECT n::float8 AS n, random() AS r, random() AS g, random() < 0.45 AS is_click,
                1 + floor(random() * 5)::int AS module, random() < 0.3 AS is_hot,
                (ARRAY[390, 390, 820, 1280, 1440])[1 + floor(random() * 5)::int] AS width,
                random() AS a, random() AS b, random() AS z, random() AS t
            FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
        ) AS thrown
    ) AS made JOIN bench_post p ON p.rank = made.rank
    CROSS JOIN LATERAL (SELECT half AND p.rank = 2 AS arm) AS shown ORDER BY n
"""


def make_posts(count: int = POSTS) -> list[str]:
    """Return the ids of posts with events, the most visited first. Their shares fall like word frequencies (Zipf's
    law).
    """
    with connection.cursor() as cursor:
        cursor.execute(_POSTS, [count])
        cursor.execute("SELECT id FROM bench_post ORDER BY rank")
        return [str(row[0]) for row in cursor.fetchall()]


def make_months() -> None:
    """Create the partitions of past months. The product creates them for existing rows."""
    days = [START + timedelta(days=day) for day in range(0, DAYS, 28)]
    rows = [AnalyticsEvent(event_type="view", created_at=day) for day in days]
    AnalyticsEvent.objects.bulk_create(rows)
    create_partitions_ahead()
    AnalyticsEvent.objects.all().delete()


def make(first: int, last: int, total: int, arm: str) -> None:
    """Insert the events with these numbers, of `total` in thirteen months. `arm`: a variation of the second post."""
    with connection.cursor() as cursor:
        # The same random rows in each run.
        cursor.execute("SELECT setseed(0.7)")
        for begin in range(first, last + 1, BATCH):
            end = min(begin + BATCH - 1, last)
            values = {
                "first": begin,
                "last": end,
                "total": float(total),
                "start": START.isoformat(),
                "arm": arm,
            }
            cursor.execute(_EVENTS, values)
        cursor.execute("VACUUM ANALYZE analytics_analyticsevent")
