"""CSV lines, one at a time, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Final

from proofroom.core.json import Json

# See OWASP's page on CSV injection. Full-width signs begin formulas, too.
_FORMULA_PREFIXES: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Echo:
    """A file whose `write` returns the line."""

    def write(self, line: str) -> str:
        return line


_writer = csv.writer(_Echo())


def header_line(titles: Iterable[str]) -> str:
    """Return the header line. It begins with a byte order mark, without which Excel does not read UTF-8."""
    return "\ufeff" + line(titles)


def line(cells: Iterable[Json]) -> str:
    """Return a line. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    row: list[str | int | float] = []
    for value in cells:
        if value is None:
            row.append("")
        elif isinstance(value, bool):
            row.append("true" if value else "false")
        elif isinstance(value, int | float):
            row.append(value)
        else:
            text = str(value)
            row.append(f"'{text}" if text.startswith(_FORMULA_PREFIXES) else text)
    return str(_writer.writerow(row))
