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
    """A line that a spreadsheet shows as it is: a text that would begin a formula gets an apostrophe before it."""
    shown: list[str | int | float] = []
    for value in cells:
        if value is None:
            shown.append("")
        elif isinstance(value, bool):
            shown.append("true" if value else "false")
        elif isinstance(value, int | float):
            shown.append(value)
        else:
            text = str(value)
            shown.append(f"'{text}" if text.startswith(_BEGINS_FORMULA) else text)
    return str(_writer.writerow(shown))
