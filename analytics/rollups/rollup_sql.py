"""SQL that adds events up: a statement that reads a chunk of them, and one for each table, whatever their number.

The chunk is a temporary table: what events say in JSON is read once, and judged once. Dialects hold the few
expressions that the two databases spell differently, so that each rule of counting is written once. Then come the
counts of the site and of posts, and the cells of heatmaps. What is put into the statements are names, patterns and
numbers of this package alone: hence the S608 that are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import connection

from analytics.models import AnalyticsEvent, HeatSheet

FORM: Final = "form:"
"""Begins the goal of a form that was taken, which is no click."""
_EVENTS: Final = AnalyticsEvent._meta.db_table
CHUNK: Final = "analytics_chunk"
"""The temporary table."""
MAX_HOST_LENGTH: Final = 260
"""Of what pages say that led to them: longer texts are not looked at."""
IS_FORM: Final = f"substr(goal, 1, {len(FORM)}) = '{FORM}'"
DEVICE: Final = (
    "CASE WHEN coalesce(viewport_width, 0) = 0 THEN 'unknown' WHEN viewport_width < 768 THEN 'mobile' "
    "WHEN viewport_width < 1100 THEN 'tablet' ELSE 'desktop' END"
)
_COMMON_COLUMNS: Final = (
    "day", "locale", "device", "goal", "CASE WHEN is_view THEN coalesce(host, '') END AS referrer",
)  # fmt: skip
_COMMON_DIMENSIONS: Final = ("total", "locale", "device")
_SITE_DIMENSIONS: Final = (*_COMMON_DIMENSIONS, "referrer", "goal")
_POST_DIMENSIONS: Final = (*_SITE_DIMENSIONS, "module", "arm", "arm goal")
"""The goals of an arm are among its figures, as another value of the same dimension."""
PAGE_ALONE: Final = ""
"""The `module_id` of cells of the page, of events that have no cell of a module."""
PAGE_OF_MODULES: Final = "~"
"""And of events that have one."""
PAGE_CELLS: Final = 100
"""Columns of the page: each 10 pixels of 1,000."""
MAX_PAGE_HEIGHT: Final = 50_000
"""Pixels of a page 1,000 pixels wide: what is further down counts as there."""
NO_POSITION: Final = 1_000
"""`down` of the cell of events that know their module, but no place in it."""
_MAX_PIXELS: Final = "1e9"
"""No page is so large: numbers that no float holds would be an error."""
SHEETS: Final = HeatSheet._meta.db_table
_SHEET_KEY: Final = ("post_id", "event_type", "module_id", "device", "version")
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
    greatest: str
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
    greatest="greatest",
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
    greatest="max",
    # Grouped, though no key comes twice: only so does SQLite find a host by an index of its own.
    mapped="SELECT key AS given, max(value) AS host FROM json_each(%(hosts)s) GROUP BY key",
)


def dialect() -> Dialect:
    """That of the database."""
    return _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE


def read_chunk(sql: Dialect) -> str:
    """Makes the temporary table of the next events after an id: what of them is counted, in columns."""
    bounded = f"{sql.least}({sql.greatest}({{0}}, 0.0), {_MAX_PIXELS})"
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


def site_counts(sql: Dialect) -> str:
    """The rows that a chunk makes of the site: dimension, grain, day, value and the sums."""
    return f"""
        WITH {_group_events(sql, ())}, counted AS (SELECT alike.*, '' AS module, '' AS arm FROM alike)
        {_sum_by_dimension(sql, "", _SITE_DIMENSIONS)}
    """  # noqa: S608


def post_counts(sql: Dialect) -> str:
    """The same of each post, with its id before: its own, and for the original of a test those of its arms."""
    arm = sql.as_id.format("post_id")
    module = "CASE WHEN NOT is_form THEN module END AS module"
    return f"""
        WITH {_group_events(sql, ("post_id", "variation_of", module))}, counted AS (
            SELECT alike.*, post_id AS counts_for, CASE WHEN post_id = variation_of THEN {arm} END AS arm
            FROM alike WHERE post_id IS NOT NULL
            UNION ALL SELECT alike.*, variation_of, {arm}
            FROM alike WHERE variation_of <> post_id)
        {_sum_by_dimension(sql, "counts_for", _POST_DIMENSIONS)}
    """  # noqa: S608


def _group_events(sql: Dialect, more: Sequence[str]) -> str:
    """Events of the chunk that count alike, as one row; `more` are columns of posts."""
    columns = [*_COMMON_COLUMNS, *more]
    return f"""
        hosts AS ({sql.mapped}), alike AS MATERIALIZED (
            SELECT {", ".join(columns)}, sum(CASE WHEN is_view THEN 1 ELSE 0 END) AS seen,
                sum(CASE WHEN is_view OR is_form THEN 0 ELSE 1 END) AS hit,
                sum(CASE WHEN is_view OR goal = '' THEN 0 ELSE 1 END) AS got
            FROM {CHUNK} LEFT JOIN hosts ON given = referrer
            GROUP BY {", ".join(str(number + 1) for number in range(len(columns)))}
        )
    """  # noqa: S608


def _sum_by_dimension(sql: Dialect, key: str, dimensions: tuple[str, ...]) -> str:
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
                CASE WHEN grain = 'day' THEN day ELSE {sql.month} END AS begun,
                CASE name WHEN 'total' THEN '' WHEN 'locale' THEN locale WHEN 'device' THEN device
                    WHEN 'referrer' THEN referrer WHEN 'module' THEN module WHEN 'arm' THEN arm
                    WHEN 'goal' THEN CASE WHEN got > 0 THEN goal END
                    ELSE CASE WHEN got > 0 THEN arm || ' ' || goal END END AS value
            FROM counted
            JOIN (SELECT 'day' AS grain UNION ALL SELECT 'month') AS grains ON grain = 'day' OR day < %(months_to)s
            CROSS JOIN ({named}) AS dimensions
        ) AS divided WHERE value IS NOT NULL GROUP BY {places} ORDER BY {places}
    """  # noqa: S608


def insert_sheets(sql: Dialect) -> str:
    """Makes the sheets that are not there yet. ON CONFLICT would use up an id for each that is."""
    names = ", ".join(_SHEET_KEY)
    is_known = " AND ".join(f"known.{name} = wanted.{name}" for name in _SHEET_KEY)
    return f"""
        WITH {_hits(sql)}
        INSERT INTO {SHEETS} ({names})
        SELECT {names} FROM (SELECT DISTINCT {names} FROM hit) AS wanted
        WHERE NOT EXISTS (SELECT 1 FROM {SHEETS} AS known WHERE {is_known}) ORDER BY {names}
    """  # noqa: S608


def heat_cells(sql: Dialect) -> str:
    """The rows that a chunk makes: sheet, day, across, down, the hits and the sums of their places."""
    is_of_sheet = " AND ".join(f"known.{name} = hit.{name}" for name in _SHEET_KEY)
    return f"""
        WITH {_hits(sql)}
        SELECT known.id, day, across, down, count(*), sum(x), sum(y)
        FROM hit JOIN {SHEETS} AS known ON {is_of_sheet} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    """  # noqa: S608


def _hits(sql: Dialect) -> str:
    """A row for each place that an event was at: on the page, in parts of its width, and in parts of its module."""
    whole, of_event = sql.whole.format, "post_id, event_type, device, version, day"
    of_post = f"FROM {CHUNK} WHERE post_id IS NOT NULL AND NOT is_form"

    def cell(name: str, times: str, last: int) -> str:
        return f"{sql.least}({whole(f'{name} {times}')}, {last})"

    return f"""
        hit AS (
            SELECT {of_event}, CASE WHEN module IS NULL OR mx IS NULL OR my IS NULL
                THEN '{PAGE_ALONE}' ELSE '{PAGE_OF_MODULES}' END AS module_id,
                {cell("px", f"* {PAGE_CELLS}", PAGE_CELLS - 1)} AS across,
                {cell("py", "/ 10", MAX_PAGE_HEIGHT // 10 - 1)} AS down,
                {whole("px * 10000 + 0.5")} AS x, {whole("py * 10 + 0.5")} AS y
            {of_post} AND px IS NOT NULL
            UNION ALL SELECT {of_event}, module, {cell("mx", "* 100", 99)}, {cell("my", "* 100", 99)},
                {whole("mx * 1000 + 0.5")}, {whole("my * 1000 + 0.5")}
            {of_post} AND module IS NOT NULL AND mx IS NOT NULL AND my IS NOT NULL
            UNION ALL SELECT {of_event}, module, 0, {NO_POSITION}, 0, 0
            {of_post} AND module IS NOT NULL AND (mx IS NULL OR my IS NULL)
        )
    """
