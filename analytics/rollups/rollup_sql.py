"""SQL that adds events up: a statement that reads a chunk, and a few for each table.

The chunk is a temporary table, so that the JSON of events is parsed and validated once. So are its
sums by post and dimension, from which the counts of the site and of posts are computed. A dialect
contains the expressions that differ between the two databases, so that each counting rule is
written once. Only names, patterns and numbers of this package are formatted into the statements,
so S608 is ignored there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import connection

from analytics.models import AnalyticsEvent, Dimension, Grain

FORM: Final = "form:"
"""Prefix of the goal of a submitted form, which is not a click."""
_EVENTS: Final = AnalyticsEvent._meta.db_table
CHUNK: Final = "analytics_chunk"
"""Temporary table of the events of a chunk."""
SUMS: Final = "analytics_chunk_sums"
"""Temporary table of their sums."""
MAX_HOST_LENGTH: Final = 260
"""Maximum length of a reported referrer; longer ones are ignored."""
IS_FORM: Final = f"substr(goal, 1, {len(FORM)}) = '{FORM}'"
DEVICE: Final = (
    "CASE WHEN coalesce(viewport_width, 0) = 0 THEN 'unknown' WHEN viewport_width < 768 THEN 'mobile' "
    "WHEN viewport_width < 1100 THEN 'tablet' ELSE 'desktop' END"
)
MAX_PAGE_HEIGHT: Final = 50_000
"""Maximum position in pixels of a page 1,000 pixels wide; larger ones are reduced to it."""
_MAX_PIXELS: Final = "1e9"
"""Maximum pixels, because larger numbers can overflow a float."""
_MIN_PIXELS: Final = "1e-6"
"""Smaller numbers count as 0: PostgreSQL raises an error if a quotient underflows a float."""
_SUMMED: Final = ("seen", "hit", "got")
_HEX: Final = "[0-9a-f]"
_UUID_LENGTHS: Final = (8, 4, 4, 4, 12)


@dataclass(frozen=True, slots=True)
class Dialect:
    """SQL expressions of one database; `{0}` is replaced by an expression."""

    day: str
    month: str
    """Month of the column `day`."""
    as_id: str
    """An id with hyphens."""
    text: str
    """A text in the metadata, by name."""
    number: str
    """A number in the metadata, by name; NULL for other types."""
    part: str
    """Such a number if it is from 0 to 1."""
    is_id: str
    """True if a text is a lower-case UUID."""
    whole: str
    """A non-negative number, rounded down."""
    least: str
    listed: str
    """The numbers `{0}` as a list, of the rows where `{1}`; NULL without such rows."""
    unlisted: str
    """The columns `{0}` of `{1}`, repeated for each number of the list `cells`, as `cell`."""
    mapped: str
    """The pairs of the JSON object in the parameter `hosts`."""


_POSTGRESQL: Final = Dialect(
    day="(created_at AT TIME ZONE 'UTC')::date",
    month="date_trunc('month', day)::date",
    as_id="{0}::text",
    text="metadata->>'{0}'",
    number="CASE WHEN jsonb_typeof(metadata->'{0}') = 'number' THEN (metadata->'{0}')::numeric END",
    # Rounded, because the cast of a number too small for a float is an error.
    part="CASE WHEN {0} BETWEEN 0 AND 1 THEN round({0}, 20)::float8 END",
    # One regular expression for the whole pattern takes six times as long.
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
    # GROUP BY on unique keys, because only then SQLite builds an index to look up hosts.
    mapped="SELECT key AS given, max(value) AS host FROM json_each(%(hosts)s) GROUP BY key",
)


def dialect() -> Dialect:
    """Return the dialect of the database."""
    return _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE


def read_chunk(sql: Dialect) -> str:
    """Return the SQL that creates the table of the next events, with the counted values as columns."""
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
    """Return the SQL that creates the table of the chunk's sums: dimension, post, original, day, value
    and sums.

    Each dimension is grouped by its own columns only, because by all of them nearly every event
    would be a group.
    """
    of_post = "post_id, variation_of, day"
    # Sums within a chunk fit into an integer, which is faster to add than a bigint's numeric sum.
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
    """Return the SQL of the site's counts in a chunk: dimension, grain, day, value and sums."""
    counted = f"SELECT * FROM {SUMS} WHERE dimension <> '{Dimension.MODULE}'"  # noqa: S608
    return _sum_by_grain(sql, "", counted)


def post_counts(sql: Dialect) -> str:
    """Return the SQL of the posts' counts, with the post's id first, and for the original of a test its arms."""
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
    """Return the SQL of daily sums, and of late events' monthly ones, ordered like the index."""
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
