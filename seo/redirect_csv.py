"""Redirects as CSV: reading and writing."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from proofroom.core.csv_export import header_line, line
from proofroom.core.errors import RuleViolation
from seo.models import TYPE_NAMES, Redirect, RedirectType
from seo.redirect_paths import clean_from, clean_to

MAX_LINES: Final = 5000
MAX_CHARACTERS: Final = 2_000_000
COLUMNS: Final = ("fromPath", "toPath", "type", "active")
_EXPORT_ONLY: Final = ("automatic", "hits", "locale")
"""Columns of an export that an import ignores."""
_NAMES: Final = {
    name.lower(): name for name in (*COLUMNS, *_EXPORT_ONLY)
} | {"from": "fromPath", "to": "toPath", "status": "type", "code": "type"}  # fmt: skip
_YES: Final = {
    "": True,
    "true": True,
    "1": True,
    "yes": True,
    "false": False,
    "0": False,
    "no": False,
}


@dataclass(frozen=True, slots=True)
class RedirectLine:
    """A redirect requested by a line."""

    number: int
    from_path: str
    to_path: str
    type: int
    is_active: bool


@dataclass(frozen=True, slots=True)
class LineProblem:
    """An error of a line. `field` is a column, or empty for the whole line."""

    line: int
    field: str
    sentence: str


def export_lines(rows: QuerySet[Redirect]) -> Iterator[str]:
    """Yield the lines of a file that can be imported again."""
    yield header_line([*COLUMNS, *_EXPORT_ONLY])
    for row in rows.iterator(chunk_size=500):
        own = (row.from_path, row.to_path, row.type, row.is_active)
        yield line([*own, row.is_automatic, row.hits, row.locale])


def read_lines(text: str) -> tuple[list[RedirectLine], list[LineProblem]]:
    """Return the lines of a file, and the problems of others.

    The delimiter is a comma, semicolon or tab, as in the first line. The first line is a header, or a redirect
    with the default columns.
    """
    # The byte order mark that spreadsheets write.
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_CHARACTERS:
        return [], [LineProblem(1, "", f"A file has at most {MAX_CHARACTERS:,} characters.")]
    first = text.lstrip("\r\n").split("\n", 1)[0][:1000]
    # max() returns the first of equals, so a single column counts as separated by commas.
    delimiter = max(",;\t", key=first.count)
    # Strict, so that wrong quoting is reported instead of guessed at.
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[RedirectLine] = []
    problems: list[LineProblem] = []
    columns: Sequence[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if columns is None:
                columns, is_header = read_columns(cells)
                if is_header:
                    continue
            if len(lines) + len(problems) >= MAX_LINES:
                sentence = _("A file can have at most %(most_lines)s redirects.") % {
                    "most_lines": f"{MAX_LINES:,}"
                }
                return [], [LineProblem(reader.line_num, "", sentence)]
            try:
                lines.append(read_line(reader.line_num, columns, cells))
            except RuleViolation as error:
                problems.append(problem_of(reader.line_num, error))
    except csv.Error as error:
        problems.append(LineProblem(reader.line_num, "", f"The line is no CSV: {error}."))
    except RuleViolation as error:
        problems.append(problem_of(1, error))
    if not lines and not problems:
        problems.append(LineProblem(1, "", "There is no redirect in it."))
    seen: dict[str, int] = {}
    for item in lines:
        first_number = seen.setdefault(item.from_path, item.number)
        if first_number != item.number:
            sentence = _("Line %(first)s already redirects %(from_path)s.") % {
                "first": first_number,
                "from_path": item.from_path,
            }
            problems.append(LineProblem(item.number, "fromPath", sentence))
    return lines, problems


def problem_of(number: int, error: RuleViolation) -> LineProblem:
    """Return the problem for the error of a line."""
    return LineProblem(number, next(iter(error.details), ""), error.message)


def read_columns(cells: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Return the columns of a file from its first line, and True if that line is a header."""
    if cells[0].strip().startswith("/"):
        return COLUMNS, False
    names = [_NAMES.get(cell.strip().lower().replace("_", "").replace(" ", "")) for cell in cells]
    for name, cell in zip(names, cells, strict=True):
        if name is None:
            known = ", ".join(COLUMNS)
            raise RuleViolation(
                _("There is no column %(cell)r. Available: %(known)s.")
                % {"cell": cell.strip()[:40], "known": known}
            )
    found = [name for name in names if name is not None]
    if len(set(found)) != len(found) or not {"fromPath", "toPath"} <= set(found):
        raise RuleViolation(
            _("The first line must name the columns fromPath and toPath once each.")
        )
    return found, True


def read_line(number: int, columns: Sequence[str], cells: Sequence[str]) -> RedirectLine:
    """Return the redirect of one line. Raises `RuleViolation` by column."""
    if len(cells) > len(columns):
        raise RuleViolation(
            _("The line has %(number)s columns, not %(number_2)s.")
            % {"number": len(cells), "number_2": len(columns)}
        )
    values = {}
    for column, cell in zip(columns, map(str.strip, cells), strict=False):
        # Removes the apostrophe that exports add so that spreadsheets don't interpret a text as a formula.
        is_escaped = cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@")
        values[column] = cell[1:] if is_escaped else cell
    type_, active = values.get("type", ""), values.get("active", "").lower()
    if type_ not in ("", *TYPE_NAMES):
        raise RuleViolation(
            _("type must be 301 (permanent) or 302 (temporary)."), details={"type": [""]}
        )
    if active not in _YES:
        raise RuleViolation(_("active must be true or false."), details={"active": [""]})
    return RedirectLine(
        number,
        clean_from(values.get("fromPath", "")),
        clean_to(values.get("toPath", "")),
        int(type_ or RedirectType.PERMANENT),
        _YES[active],
    )
