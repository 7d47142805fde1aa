"""SQL that adds events up: a statement that reads a chunk of them, and a few for each table, whatever their number.

The chunk is a temporary table: what events say in JSON is read once, and judged once. So are its sums by post and
dimension, which the counts of the site and of posts both come from. Dialects hold the few expressions that the two
databases spell differently, so that each rule of counting is written once. What is put into the statements are names,
patterns and numbers of this package alone: hence the S608 that are marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import connection

from analytics.models import AnalyticsEvent, Dimension, Grain

FORM: Final = "form:"
"""Begins the goal of a form that was taken, which is no click."""
_EVENTS: Final = AnalyticsEvent._meta.db_table
CHUNK: Final = "analytics_chunk"
"""The temporary table of events."""
SUMS: Final = "analytics_chunk_sums"
"""Of what they come to."""
MAX_HOST_LENGTH: Final = 260
"""Of what pages say that led to them: longer texts are not looked at."""
IS_FORM: Final = f"substr(goal, 1, {len(FORM)}) = '{FORM}'"
DEVICE: Final = (
    "CASE WHEN coalesce(viewport_width, 0) = 0 THEN 'unknown' WHEN viewport_width < 768 THEN 'mobile' "
    "WHEN viewport_width < 1100 THEN 'tablet' ELSE 'desktop' END"
)
MAX_PAGE_HEIGHT: Final = 50_000
"""Pixels of a page 1,000 pixels wide: what is further down counts as there."""
_MAX_PIXELS: Final = "1e9"
"""No page is so large: numbers that no float holds would be an error."""
_MIN_PIXELS: Final = "1e-6"
"""What is less is at the edge: PostgreSQL fails where a quotient is too small for a float."""
_SUMMED: Final = ("seen", "hit", "got")
_HEX: Final = "[0-9a-f]"
_UUID_LENGTHS: Final = (8, 4, 4, 4, 12)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Columns of events, as they are counted; `{0}` stands for an expression."""

    day: str
    month: str
    """Of the column `day`."""
    as_id: str
    """An id as people write it."""
    text: str
    """A text of the metadata, by its name."""
    number: str
    """A number of the metadata, by its name; nothing where it is none."""
    part: str
    """Of such a number, what is from 0 to 1."""
    is_id: str
    """Whether a text is one, in small letters."""
    whole: str
    """A number that is not negative, rounded down."""
    least: str
    listed: str
    """The numbers `{0}` as a list, of the rows where `{1}`; nothing without such rows."""
    unlisted: str
    """The columns `{0}` of `{1}`, once with each number of the list `cells`, as `cell`."""
    mapped: str
    """The pairs of a JSON object that is the parameter `hosts`."""


_POSTGRESQL: Final = Dialect(
    day="(created_at AT TIME ZONE 'UTC')::date",
    month="date_trunc('month', day)::date",
    as_id="{0}::text",
    text="metadata->>'{0}'",
    number="CASE WHEN jsonb_typeof(metadata->'{0}') = 'number' THEN (metadata->'{0}')::numeric END",
    # Rounded, as what is smaller than any float is an error there and not nothing.
    part="CASE WHEN {0} BETWEEN 0 AND 1 THEN round({0}, 20)::float8 END",
    # One regular expression for all of it takes six times as long.
    is_id=(
        "({0} LIKE '" + "-".join("_" * number for number in _UUID_LENGTHS) + "' "
        "AND length(replace({0}, '-', '')) = 32 AND {0} !~ '[^0-9a-f-]')"
    ),
    whole="floor({0})::integer",
    least="least",
    listed="array_agg({0}) FILTER (WHERE {1})",
    unlisted="SELECT {0}, unnest(cells) AS cell FROM {1}",
    mapped="SELECT key AS given, value AS host FROM json_each_text(%(hosts)s::json)",
)
_SQLITE: Final = Dialect(
    day="date(created_at)",
    month="date(day, 'start of month')",
    as_id=" || '-' || ".join(
        f"substr({{0}}, {sum(_UUID_LENGTHS[:place]) + 1}, {number})"
        for place, number in enumerate(_UUID_LENGTHS)
    ),
    text="json_extract(metadata, '$.{0}')",
    number=(
        "CASE WHEN json_type(metadata, '$.{0}') IN ('integer', 'real') "
        "THEN json_extract(metadata, '$.{0}') END"
    ),
    part="CASE WHEN {0} BETWEEN 0 AND 1 THEN {0} + 0.0 END",
    is_id="{0} GLOB '" + "-".join(_HEX * number for number in _UUID_LENGTHS) + "'",
    whole="CAST({0} AS INTEGER)",
    least="min",
    listed="nullif(json_group_array({0}) FILTER (WHERE {1}), '[]')",
    unlisted="SELECT {0}, value AS cell FROM {1} CROSS JOIN json_each(cells)",
    # Grouped, though no key comes twice: only so does SQLite find a host by an index of its own.
    mapped="SELECT key AS given, max(value) AS host FROM json_each(%(hosts)s) GROUP BY key",
)


def dialect() -> Dialect:
    """That of the database."""
    return _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE


def read_chunk(sql: Dialect) -> str:
    """Makes the temporary table of the next events after an id: what of them is counted, in columns."""
    bounded = (
        f"CASE WHEN {{0}} >= {_MIN_PIXELS} THEN {sql.least}({{0}}, {_MAX_PIXELS}) ELSE 0.0 END"
    )
    is_placed = "x IS NOT NULL AND y IS NOT NULL AND viewport_width > 0"
    is_click = "event_type <> 'view'"
    referrer = sql.text.format("referrer")
    return f"""
        CREATE TEMPORARY TABLE {CHUNK} AS
        SELECT id, event_type, is_view, is_form, post_id, variation_of, locale, version, goal, device, day, referrer,
            CASE WHEN {sql.is_id.format("module")} THEN module END AS module,
            {sql.part.format("mx")} AS mx, {sql.part.format("my")} AS my,
            CASE WHEN along IS NOT NULL THEN {sql.least}(along, 1.0) END AS px,
            CASE WHEN deep IS NOT NULL THEN {sql.least}(deep, {MAX_PAGE_HEIGHT}.0) END AS py
        FROM (
            SELECT id, event_type, event_type = 'view' AS is_view, {IS_FORM} AS is_form, post_id, variation_of,
                locale, coalesce(version, 0) AS version, goal, {DEVICE} AS device, {sql.day} AS day,
                CASE WHEN event_type = 'view' AND length({referrer}) <= {MAX_HOST_LENGTH}
                    THEN {referrer} END AS referrer,
                CASE WHEN {is_click} THEN lower({sql.text.format("postModuleId")}) END AS module,
                CASE WHEN {is_click} THEN {sql.number.format("moduleX")} END AS mx,
                CASE WHEN {is_click} THEN {sql.number.format("moduleY")} END AS my,
                CASE WHEN {is_placed} THEN {bounded.format("x")} / viewport_width END AS along,
                CASE WHEN {is_placed} THEN {bounded.format("y")} / viewport_width * 1000 END AS deep
            FROM {_EVENTS} WHERE id > %(after)s AND id <= %(to)s AND created_at >= %(since)s
            ORDER BY id LIMIT %(limit)s
        ) AS event
    """  # noqa: S608


def sum_chunk(sql: Dialect) -> str:
    """Makes the temporary table of what the chunk comes to: dimension, post, original, day, value and the sums.

    Each dimension is grouped by what it needs alone: by all of them at once, nearly every event would be a group.
    """
    of_post = "post_id, variation_of, day"
    # Whole numbers of a chunk are small: sums of small ones are cheap.
    sums = ", ".join(f"CAST(sum({name}) AS integer) AS {name}" for name in _SUMMED)
    count = "CAST(count(*) AS integer)"
    return f"""
        CREATE TEMPORARY TABLE {SUMS} AS
        WITH hosts AS ({sql.mapped}), alike AS MATERIALIZED (
            SELECT {of_post}, locale, device,
                CAST(sum(CASE WHEN is_view THEN 1 ELSE 0 END) AS integer) AS seen,
                CAST(sum(CASE WHEN is_view OR is_form THEN 0 ELSE 1 END) AS integer) AS hit,
                CAST(sum(CASE WHEN is_view OR goal = '' THEN 0 ELSE 1 END) AS integer) AS got
            FROM {CHUNK} GROUP BY {of_post}, locale, device
        )
        SELECT '{Dimension.TOTAL}' AS dimension, {of_post}, '' AS value, {sums} FROM alike GROUP BY {of_post}
        UNION ALL SELECT '{Dimension.LOCALE}', {of_post}, locale, {sums} FROM alike GROUP BY {of_post}, locale
        UNION ALL SELECT '{Dimension.DEVICE}', {of_post}, device, {sums} FROM alike GROUP BY {of_post}, device
        UNION ALL SELECT '{Dimension.REFERRER}', {of_post}, coalesce(host, ''), seen, 0, 0 FROM (
            SELECT {of_post}, referrer, {count} AS seen FROM {CHUNK} WHERE is_view GROUP BY {of_post}, referrer
        ) AS referred LEFT JOIN hosts ON given = referrer
        UNION ALL SELECT '{Dimension.GOAL}', {of_post}, goal, 0, 0, {count} FROM {CHUNK}
        WHERE NOT is_view AND goal <> '' GROUP BY {of_post}, goal
        UNION ALL SELECT '{Dimension.MODULE}', {of_post}, module, 0, {count}, 0 FROM {CHUNK}
        WHERE NOT is_view AND NOT is_form AND module IS NOT NULL GROUP BY {of_post}, module
    """  # noqa: S608


def site_counts(sql: Dialect) -> str:
    """The rows that a chunk makes of the site: dimension, grain, day, value and the sums."""
    counted = f"SELECT * FROM {SUMS} WHERE dimension <> '{Dimension.MODULE}'"  # noqa: S608
    return _sum_by_grain(sql, "", counted)


def post_counts(sql: Dialect) -> str:
    """The same of each post, with its id before: its own, and for the original of a test those of its arms."""
    arm, sums = sql.as_id.format("post_id"), ", ".join(_SUMMED)
    of_arm = f"SELECT variation_of, '{Dimension.ARM}', day"
    is_in_test = "post_id IS NOT NULL AND variation_of IS NOT NULL"
    counted = f"""
        SELECT post_id AS counts_for, dimension, day, value, {sums} FROM {SUMS} WHERE post_id IS NOT NULL
        UNION ALL SELECT variation_of, dimension, day, value, {sums} FROM {SUMS} WHERE variation_of <> post_id
        UNION ALL {of_arm}, {arm}, {sums} FROM {SUMS} WHERE {is_in_test} AND dimension = '{Dimension.TOTAL}'
        UNION ALL {of_arm}, {arm} || ' ' || value, {sums} FROM {SUMS}
        WHERE {is_in_test} AND dimension = '{Dimension.GOAL}'
    """  # noqa: S608
    return _sum_by_grain(sql, "counts_for, ", counted)


def _sum_by_grain(sql: Dialect, key: str, counted: str) -> str:
    """Sums of days and, of what came late, of their months too. Neighbours of the index together."""
    sums = ", ".join(f"sum({name}) AS {name}" for name in _SUMMED)
    places = ", ".join(str(number + 1) for number in range(5 if key else 4))
    return f"""
        WITH counted AS MATERIALIZED (
            SELECT {key}dimension, day, value, {sums} FROM ({counted}) AS divided GROUP BY {key}dimension, day, value
        )
        SELECT {key}dimension, '{Grain.DAY}' AS grain, day AS begun, value, {", ".join(_SUMMED)} FROM counted
        UNION ALL SELECT {key}dimension, '{Grain.MONTH}', {sql.month}, value, {sums} FROM counted
        WHERE day < %(months_to)s GROUP BY {key}dimension, {sql.month}, value ORDER BY {places}
    """  # noqa: S608
