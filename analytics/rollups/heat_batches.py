"""Hits of heatmaps as lists of packed numbers: the SQL to write and to read them.

A row for each cell took most of the time of adding up, because most clicks have a cell of their
own. So the hits of a sheet that are added up together are one row, and each of its numbers packs a
cell and up to `MAX_HITS` hits of it:

    bits 41 to 60: the cell: its row (13 bits) and its column (7)
    bits 32 to 40: number of hits
    bits 16 to 31: sum of the distances from its left edge, in tenths of its side
    bits  0 to 15: sum of the distances from its upper edge, in the same unit

A list may contain a cell several times; readers sum them. Only names and numbers of this package
are formatted into the statements, so S608 is ignored there.
"""

from __future__ import annotations

from typing import Final

from analytics.models import HeatBatch, HeatSheet
from analytics.rollups.rollup_sql import CHUNK, MAX_PAGE_HEIGHT, Dialect

HITS: Final = "analytics_chunk_hits"
"""Temporary table of the positions hit by the events of a chunk."""
PAGE_ALONE: Final = ""
"""`module_id` of page cells, for events without a module cell."""
PAGE_OF_MODULES: Final = "~"
"""`module_id` of page cells, for events that also have a module cell."""
PAGE_CELLS: Final = 100
"""Columns of the page: each 10 pixels of 1,000."""
PAGE_SIDE: Final = 100
"""Side of a page cell, in tenths of a pixel."""
MODULE_SIDE: Final = 10
"""Side of a module cell, in tenths of a hundredth of its width and height."""
NO_POSITION: Final = 1_000
"""Row of events that have a module but no position in it."""
MAX_HITS: Final = 511
ROW_BITS: Final = 7
"""Number of bits of the column, below the row."""
BATCHES: Final = HeatBatch._meta.db_table
PLACE: Final = "(cell >> 41)"
HITS_SUM: Final = f"sum(CAST((cell >> 32) & {MAX_HITS} AS integer))"
SUMS: Final = (
    f"{HITS_SUM} AS hits, sum(CAST((cell >> 16) & 65535 AS integer)) AS along, "
    "sum(CAST(cell & 65535 AS integer)) AS deep"
)
_SHEETS: Final = HeatSheet._meta.db_table
_SHEET_KEY: Final = ("post_id", "event_type", "module_id", "device", "version")
_SHEET_NAMES: Final = ", ".join(_SHEET_KEY)
_IS_SHEET: Final = " AND ".join(f"known.{name} = wanted.{name}" for name in _SHEET_KEY)
# A scalar subquery, so that each sheet is an index lookup; a join would read all sheets.
_SHEET_ID: Final = f"(SELECT id FROM {_SHEETS} AS known WHERE {_IS_SHEET})"  # noqa: S608
_IS_IN_MODULE: Final = "module IS NOT NULL AND mx IS NOT NULL AND my IS NOT NULL"
_OF_SHEETS: Final = f"""
    SELECT post_id, event_type, page AS module_id, device, version, day, on_page AS cells
    FROM {HITS} WHERE on_page IS NOT NULL
    UNION ALL SELECT post_id, event_type, module, device, version, day, in_module
    FROM {HITS} WHERE in_module IS NOT NULL
"""  # noqa: S608


def pack_cell(place: str, hits: str, along: str, deep: str) -> str:
    """Return the SQL of a packed number."""
    shifted = ((place, 41), (hits, 32), (along, 16), (deep, 0))
    return " | ".join(f"(CAST({value} AS bigint) << {bits})" for value, bits in shifted)


def find_hits(sql: Dialect) -> str:
    """Return the SQL that creates the table of the chunk's hits: lists on the page, and in its modules."""
    of_event = "post_id, event_type, device, version, day, module"
    whole = sql.whole.format

    def bounded(name: str, times: str, last: int) -> str:
        return f"{sql.least}({whole(f'{name} {times}')}, {last})"

    def in_module(place: str, otherwise: int | str = 0) -> str:
        return f"CASE WHEN {_IS_IN_MODULE} THEN {place} ELSE {otherwise} END"

    def hit(of: str, side: int) -> str:
        place = f"({of}_down << {ROW_BITS}) | {of}_across"
        inside = (f"{of}_x - {of}_across * {side}", f"{of}_y - {of}_down * {side}")
        return pack_cell(place, "1", *inside)

    return f"""
        CREATE TEMPORARY TABLE {HITS} AS
        SELECT {of_event}, page,
            {sql.listed.format(hit("page", PAGE_SIDE), "px IS NOT NULL")} AS on_page,
            {sql.listed.format(hit("module", MODULE_SIDE), "module IS NOT NULL")} AS in_module
        FROM (
            SELECT {of_event}, px, {in_module(f"'{PAGE_OF_MODULES}'", f"'{PAGE_ALONE}'")} AS page,
                {bounded("px", f"* {PAGE_CELLS}", PAGE_CELLS - 1)} AS page_across,
                {bounded("py", "/ 10", MAX_PAGE_HEIGHT // 10 - 1)} AS page_down,
                {whole("px * 10000 + 0.5")} AS page_x, {whole("py * 10 + 0.5")} AS page_y,
                {in_module(bounded("mx", "* 100", 99))} AS module_across,
                {in_module(bounded("my", "* 100", 99), NO_POSITION)} AS module_down,
                {in_module(whole("mx * 1000 + 0.5"))} AS module_x,
                {in_module(whole("my * 1000 + 0.5"), NO_POSITION * MODULE_SIDE)} AS module_y
            FROM {CHUNK} WHERE post_id IS NOT NULL AND NOT is_form
        ) AS placed GROUP BY {of_event}, page
    """  # noqa: S608


def insert_sheets() -> str:
    """Return the SQL that creates missing sheets. ON CONFLICT would use up an id for each existing one."""
    return f"""
        INSERT INTO {_SHEETS} ({_SHEET_NAMES}) SELECT {_SHEET_NAMES}
        FROM (SELECT DISTINCT {_SHEET_NAMES} FROM ({_OF_SHEETS}) AS hit) AS wanted
        WHERE {_SHEET_ID} IS NULL ORDER BY {_SHEET_NAMES}
    """  # noqa: S608


def insert_batches(sql: Dialect) -> str:
    """Return the SQL that creates a batch of each sheet and day, for the chunk whose last event is `last`."""
    return f"""
        INSERT INTO {BATCHES} (sheet_id, day, last_event, cells)
        WITH placed AS MATERIALIZED (
            SELECT {_SHEET_ID} AS sheet_id, day, cells FROM ({_OF_SHEETS}) AS wanted
        ), hit AS ({sql.unlisted.format("sheet_id, day", "placed")})
        SELECT sheet_id, day, CAST(%(last)s AS bigint), {sql.listed.format("cell", "true")}
        FROM hit GROUP BY sheet_id, day ORDER BY sheet_id, day
    """  # noqa: S608
