"""Positions of events on a page or in a module, as the cells that count them. Two statements for any number."""

from __future__ import annotations

from typing import Final

from analytics.models import HeatSheet
from analytics.rollups.counts import CHOSEN, DEVICE, EVENTS, IS_FORM
from analytics.rollups.sql_dialects import Dialect

PAGE_ALONE: Final = ""
"""The `module_id` of cells of the page, of events that have no cell of a module."""
PAGE_OF_MODULES: Final = "~"
"""And of events that have one."""
PAGE_CELLS: Final = 100
"""Columns of the page: each 10 pixels of 1,000."""
PAGE_HIGH: Final = 50_000
"""Pixels of a page 1,000 pixels wide: what is further down counts as there."""
NO_POSITION: Final = 1_000
"""`down` of the cell of events that know their module, but no place in it."""
_FAR: Final = "1e9"
"""No page is so large: numbers that no float holds would be an error."""
SHEETS: Final = HeatSheet._meta.db_table
_SHEET: Final = ("post_id", "event_type", "module_id", "device", "version")


def new_sheets(words: Dialect) -> str:
    """Makes the sheets that are not there yet. ON CONFLICT would use up an id for each that is."""
    names = ", ".join(_SHEET)
    return f"""
        WITH {_hit(words)}
        INSERT INTO {SHEETS} ({names})
        SELECT {names} FROM (SELECT DISTINCT {names} FROM hit) AS wanted
        WHERE NOT EXISTS (SELECT 1 FROM {SHEETS} AS known WHERE {_same("wanted")}) ORDER BY {names}
    """  # noqa: S608  # names of our own, here and below


def cells(words: Dialect) -> str:
    """The rows that a chunk makes: sheet, day, across, down, the hits and the sums of their places."""
    return f"""
        WITH {_hit(words)}
        SELECT known.id, day, across, down, count(*), sum(x), sum(y)
        FROM hit JOIN {SHEETS} AS known ON {_same("hit")} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    """  # noqa: S608


def _same(given: str) -> str:
    return " AND ".join(f"known.{name} = {given}.{name}" for name in _SHEET)


def _hit(words: Dialect) -> str:
    """A row for each place that an event was at: on the page, and in its module."""
    whole, of_event = words.whole.format, "post_id, event_type, device, version, day"

    def cell(name: str, times: str, last: int) -> str:
        return f"{words.least}({whole(f'{name} {times}')}, {last})"

    return f"""
        {_placed(words)}, hit AS (
            SELECT {of_event}, CASE WHEN module IS NULL OR mx IS NULL OR my IS NULL
                THEN '{PAGE_ALONE}' ELSE '{PAGE_OF_MODULES}' END AS module_id,
                {cell("px", f"* {PAGE_CELLS}", PAGE_CELLS - 1)} AS across,
                {cell("py", "/ 10", PAGE_HIGH // 10 - 1)} AS down,
                {whole("px * 10000 + 0.5")} AS x, {whole("py * 10 + 0.5")} AS y
            FROM placed WHERE px IS NOT NULL
            UNION ALL SELECT {of_event}, module, {cell("mx", "* 100", 99)}, {cell("my", "* 100", 99)},
                {whole("mx * 1000 + 0.5")}, {whole("my * 1000 + 0.5")}
            FROM placed WHERE module IS NOT NULL AND mx IS NOT NULL AND my IS NOT NULL
            UNION ALL SELECT {of_event}, module, 0, {NO_POSITION}, 0, 0
            FROM placed WHERE module IS NOT NULL AND (mx IS NULL OR my IS NULL)
        )
    """  # noqa: S608


def _placed(words: Dialect) -> str:
    """Events of posts with their place in parts of the page's width, and in parts of their module.

    Materialized: what is read of JSON is read once.
    """
    bounded = f"{words.least}({words.greatest}({{0}}, 0.0), {_FAR})"
    is_placed = "x IS NOT NULL AND y IS NOT NULL AND viewport_width > 0"
    return f"""
        told AS MATERIALIZED (
            SELECT post_id, event_type, {DEVICE} AS device, coalesce(version, 0) AS version, {words.day} AS day,
                CASE WHEN {is_placed} THEN {bounded.format("x")} / viewport_width END AS along,
                CASE WHEN {is_placed} THEN {bounded.format("y")} / viewport_width * 1000 END AS deep,
                CASE WHEN event_type <> 'view' THEN lower({words.said.format("postModuleId")}) END AS module,
                {words.number.format("moduleX")} AS mx, {words.number.format("moduleY")} AS my
            FROM {EVENTS} WHERE post_id IS NOT NULL AND NOT ({IS_FORM}) AND {CHOSEN}
        ), placed AS MATERIALIZED (
            SELECT post_id, event_type, device, version, day,
                CASE WHEN {words.is_id.format("module")} THEN module END AS module,
                {words.part.format("mx")} AS mx, {words.part.format("my")} AS my,
                CASE WHEN along IS NOT NULL THEN {words.least}(along, 1.0) END AS px,
                CASE WHEN deep IS NOT NULL THEN {words.least}(deep, {PAGE_HIGH}.0) END AS py
            FROM told WHERE along IS NOT NULL OR module IS NOT NULL
        )
    """  # noqa: S608
