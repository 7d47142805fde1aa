"""Lines of CSV, one by one, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Final

from proofroom.core.json import Json

_BEGINS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Echo:
    """A file whose `write` answers the line instead of keeping it."""

    def write(self, line: str) -> str:
        return line


_writer = csv.writer(_Echo())


def header_line(titles: Iterable[str]) -> str:
    """The header. Without the mark before it Excel takes UTF-8 for something else."""
    return "\ufeff" + line(titles)


def line(cells: Iterable[Json]) -> str:
    return str(_writer.writerow([_cell(cell) for cell in cells]))


def _cell(value: Json) -> str | int | float:
    """Return what a spreadsheet shows as it is: a text that would begin a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = str(value)
    return f"'{text}" if text.startswith(_BEGINS_FORMULA) else text
