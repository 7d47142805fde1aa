"""The queries of the reports on the raw events, with as few columns and statements as possible."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from analytics.periods import Period
from analytics.rollups.heatmaps import HeatmapSpec


def summary(period: Period, post: UUID | None) -> None:
    """Run the seven queries of a summary on the events."""
    of = "AND post_id = %(post)s" if post else ""
    seen = (
        "count(*) FILTER (WHERE event_type = 'view'), count(*) FILTER (WHERE event_type = 'click')"
    )
    width = "width_bucket(viewport_width, ARRAY[768, 1100])"
    for dates, group, tail in (
        (period, "1", "GROUP BY 1"),
        (period.before(), "1", "GROUP BY 1"),
        (period, "date_trunc('day', created_at AT TIME ZONE 'UTC')", "GROUP BY 1"),
        (period, "locale", "GROUP BY 1"),
        (period, width, "GROUP BY 1"),
        (
            period,
            "metadata->>'referrer'",
            "AND event_type = 'view' GROUP BY 1 ORDER BY 2 DESC LIMIT 20",
        ),
        (period, "post_id", "GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ):
        _raw(f"SELECT {group}, {seen}", f"{of} {tail}", dates, {"post": post})


def heatmap(asked: HeatmapSpec) -> None:
    where = "AND post_id = %(post)s AND event_type = 'click' AND x IS NOT NULL"
    if asked.device:
        where += " AND viewport_width < 768"
    if asked.versions[0]:
        where += " AND version >= 3 AND version < 4"
    cell = "floor(x / viewport_width * 100), floor(y / viewport_width * 100)"
    tail = f"{where} GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5000"
    _raw(
        f"SELECT {cell}, count(*), avg(x / viewport_width), avg(y)",
        tail,
        asked.period,
        {"post": asked.post_id},
    )


def modules(asked: HeatmapSpec) -> None:
    tail = "AND post_id = %(post)s AND event_type = 'click' GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 5000"
    cell = "round((metadata->>'moduleX')::numeric, 2), round((metadata->>'moduleY')::numeric, 2)"
    _raw(
        f"SELECT metadata->>'postModuleId', {cell}, count(*)",
        tail,
        asked.period,
        {"post": asked.post_id},
    )


def arms(original: UUID, period: Period) -> None:
    what = "SELECT post_id, count(*), count(*) FILTER (WHERE goal <> '')"
    _raw(what, "AND variation_of = %(post)s GROUP BY 1", period, {"post": original})


def _raw(what: str, tail: str, period: Period, values: dict[str, Any]) -> None:
    begin = _moment(period.first)
    dates = {"begin": begin, "end": begin + timedelta(days=period.days)}
    source = "FROM analytics_analyticsevent WHERE created_at >= %(begin)s AND created_at < %(end)s"
    with connection.cursor() as cursor:
        cursor.execute(f"{what} {source} {tail}", {**values, **dates})
        cursor.fetchall()


def _moment(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
