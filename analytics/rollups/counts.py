"""Adds events to the counts of the site and of posts: one statement for each table, for any number of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analytics.models import AnalyticsEvent
from analytics.rollups.sql_dialects import Dialect

FORM: Final = "form:"
"""Begins the goal of a form that was taken, which is no click."""
EVENTS: Final = AnalyticsEvent._meta.db_table
CHOSEN: Final = "id > %(after)s AND id <= %(to)s AND created_at >= %(since)s"
IS_FORM: Final = f"substr(goal, 1, {len(FORM)}) = '{FORM}'"
DEVICE: Final = (
    "CASE WHEN coalesce(viewport_width, 0) = 0 THEN 'unknown' WHEN viewport_width < 768 THEN 'mobile' "
    "WHEN viewport_width < 1100 THEN 'tablet' ELSE 'desktop' END"
)
_COMMON: Final = (
    "day", "locale", "device", "goal", "CASE WHEN is_view THEN coalesce(host, '') END AS referrer",
)  # fmt: skip
_ALL: Final = ("total", "locale", "device")
_OF_SITE: Final = (*_ALL, "referrer", "goal")
_OF_POSTS: Final = (*_OF_SITE, "module", "arm", "arm goal")
"""The goals of an arm are among its figures, as another value of the same dimension."""


def site_counts(words: Dialect) -> str:
    """The rows that a chunk makes of the site: dimension, grain, day, value and the sums."""
    return f"""
        WITH {_alike(words, ())}, counted AS (SELECT alike.*, '' AS module, '' AS arm FROM alike)
        {_divided(words, "", _OF_SITE)}
    """  # noqa: S608  # names of our own, here and below


def post_counts(words: Dialect) -> str:
    """The same of each post, with its id before: its own, and for the original of a test those of its arms."""
    arm = words.as_id.format("post_id")
    module = f"CASE WHEN NOT is_form AND {words.is_id.format('module')} THEN module END AS module"
    return f"""
        WITH {_alike(words, ("post_id", "variation_of", module))}, counted AS (
            SELECT alike.*, post_id AS counts_for, CASE WHEN post_id = variation_of THEN {arm} END AS arm
            FROM alike WHERE post_id IS NOT NULL
            UNION ALL SELECT alike.*, variation_of, {arm}
            FROM alike WHERE variation_of <> post_id)
        {_divided(words, "counts_for", _OF_POSTS)}
    """  # noqa: S608


def _alike(words: Dialect, more: Sequence[str]) -> str:
    """Events that count alike, as one row; `more` are columns of posts. Materialized: what is read of JSON is read
    once."""
    is_view = "event_type = 'view'"
    columns = [*_COMMON, *more]
    module = (
        f"CASE WHEN NOT {is_view} THEN lower({words.said.format('postModuleId')}) END AS module,"
    )
    return f"""
        hosts AS ({words.mapped}), told AS MATERIALIZED (
            SELECT {words.day} AS day, {is_view} AS is_view, {IS_FORM} AS is_form, post_id, variation_of, locale,
                {DEVICE} AS device, goal, {module if more else ""}
                CASE WHEN {is_view} THEN {words.said.format("referrer")} END AS referrer
            FROM {EVENTS} WHERE {CHOSEN}
        ), alike AS MATERIALIZED (
            SELECT {", ".join(columns)}, sum(CASE WHEN is_view THEN 1 ELSE 0 END) AS seen,
                sum(CASE WHEN is_view OR is_form THEN 0 ELSE 1 END) AS hit,
                sum(CASE WHEN is_view OR goal = '' THEN 0 ELSE 1 END) AS got
            FROM told LEFT JOIN hosts ON given = referrer
            GROUP BY {", ".join(str(number + 1) for number in range(len(columns)))}
        )
    """  # noqa: S608


def _divided(words: Dialect, key: str, dimensions: tuple[str, ...]) -> str:
    """By each dimension, for days and, of what came late, for their months. Neighbours of the index together."""
    named = " UNION ALL ".join(f"SELECT '{name}' AS name" for name in dimensions)
    keys = f"{key}, " if key else ""
    places = ", ".join(str(number + 1) for number in range(5 if key else 4))
    return f"""
        SELECT {keys}CASE WHEN name = 'arm goal' THEN 'arm' ELSE name END AS dimension, grain, begun, value,
            sum(CASE WHEN name IN ('goal', 'arm goal', 'module') THEN 0 ELSE seen END),
            sum(CASE WHEN name IN ('goal', 'arm goal', 'referrer') THEN 0 ELSE hit END),
            sum(CASE WHEN name IN ('module', 'referrer') THEN 0 ELSE got END)
        FROM (
            SELECT counted.*, grain, name,
                CASE WHEN grain = 'day' THEN day ELSE {words.month} END AS begun,
                CASE name WHEN 'total' THEN '' WHEN 'locale' THEN locale WHEN 'device' THEN device
                    WHEN 'referrer' THEN referrer WHEN 'module' THEN module WHEN 'arm' THEN arm
                    WHEN 'goal' THEN CASE WHEN got > 0 THEN goal END
                    ELSE CASE WHEN got > 0 THEN arm || ' ' || goal END END AS value
            FROM counted
            JOIN (SELECT 'day' AS grain UNION ALL SELECT 'month') AS grains ON grain = 'day' OR day < %(months_to)s
            CROSS JOIN ({named}) AS dimensions
        ) AS divided WHERE value IS NOT NULL GROUP BY {places} ORDER BY {places}
    """  # noqa: S608
