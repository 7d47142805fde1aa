"""Redirects as lines of CSV, read and written. Knows no rule of the table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core.csv_lines import first_line, line
from core.errors import RuleViolation
from seo.addresses import clean_from, clean_to
from seo.models import Redirect, RedirectType

MOST_LINES: Final = 5000
MOST_CHARACTERS: Final = 2_000_000
COLUMNS: Final = ("fromPath", "toPath", "type", "active")
_TOLD: Final = ("automatic", "hits", "locale")
"""Columns of an export that an import reads over."""
_NAMES: Final = {
    name.lower(): name for name in (*COLUMNS, *_TOLD)
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
class Line:
    """A redirect as a line asks for it."""

    number: int
    from_path: str
    to_path: str
    type: int
    is_active: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line; `field` is a column, or empty for the whole line."""

    line: int
    field: str
    sentence: str


def exported(rows: QuerySet[Redirect]) -> Iterator[str]:
    """The lines of a file that an import takes back."""
    yield first_line([*COLUMNS, *_TOLD])
    for row in rows.iterator(chunk_size=500):
        own = (row.from_path, row.to_path, row.type, row.is_active)
        yield line([*own, row.is_automatic, row.hits, row.locale])


def read(text: str) -> tuple[list[Line], list[Problem]]:
    """The lines of a file, and what is wrong with others.

    Commas, semicolons or tabs part the columns, as the first line has them. That one names the columns, or is a
    redirect itself: from, to, type, active.
    """
    text = text.removeprefix("\ufeff")
    if len(text) > MOST_CHARACTERS:
        return [], [Problem(1, "", f"A file has at most {MOST_CHARACTERS:,} characters.")]
    reader = csv.reader(StringIO(text, newline=""), delimiter=_parted_by(text), strict=True)
    lines: list[Line] = []
    problems: list[Problem] = []
    columns: Sequence[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if columns is None:
                columns, is_header = _columns(cells)
                if is_header:
                    continue
            if len(lines) + len(problems) >= MOST_LINES:
                sentence = _("A file has at most %(most_lines)s redirects.") % {
                    "most_lines": f"{MOST_LINES:,}"
                }
                return [], [Problem(reader.line_num, "", sentence)]
            try:
                lines.append(_line(reader.line_num, columns, cells))
            except RuleViolation as error:
                problems.append(problem_of(reader.line_num, error))
    except csv.Error as error:
        problems.append(Problem(reader.line_num, "", f"The line is no CSV: {error}."))
    except RuleViolation as error:
        problems.append(problem_of(1, error))
    if not lines and not problems:
        problems.append(Problem(1, "", "There is no redirect in it."))
    return lines, problems + _doubles(lines)


def problem_of(number: int, error: RuleViolation) -> Problem:
    return Problem(number, next(iter(error.details), ""), error.message)


def _parted_by(text: str) -> str:
    first = text.lstrip("\r\n").split("\n", 1)[0][:1000]
    return max(",;\t", key=first.count)


def _columns(cells: Sequence[str]) -> tuple[Sequence[str], bool]:
    """What the columns are, and whether the first line says so."""
    if cells[0].strip().startswith("/"):
        return COLUMNS, False
    names = [_NAMES.get(cell.strip().lower().replace("_", "").replace(" ", "")) for cell in cells]
    for name, cell in zip(names, cells, strict=True):
        if name is None:
            known = ", ".join(COLUMNS)
            raise RuleViolation(
                _("There is no column %(cell)r; known: %(known)s.")
                % {"cell": cell.strip()[:40], "known": known}
            )
    found = [name for name in names if name is not None]
    if len(set(found)) != len(found) or not {"fromPath", "toPath"} <= set(found):
        raise RuleViolation(_("The first line names the columns fromPath and toPath, each once."))
    return found, True


def _line(number: int, columns: Sequence[str], cells: Sequence[str]) -> Line:
    if len(cells) > len(columns):
        raise RuleViolation(
            _("The line has %(number)s columns, not %(number_2)s.")
            % {"number": len(cells), "number_2": len(columns)}
        )
    values = dict(zip(columns, map(_bare, cells), strict=False))
    type_, active = values.get("type", ""), values.get("active", "").lower()
    if type_ not in ("", *map(str, RedirectType.values)):
        raise RuleViolation(_("type is 301 (for good) or 302 (for now)."), details={"type": [""]})
    if active not in _YES:
        raise RuleViolation(_("active is true or false."), details={"active": [""]})
    return Line(
        number,
        clean_from(values.get("fromPath", "")),
        clean_to(values.get("toPath", "")),
        int(type_ or RedirectType.PERMANENT),
        _YES[active],
    )


def _bare(cell: str) -> str:
    """Without the apostrophe that keeps a spreadsheet from taking a text for a formula."""
    cell = cell.strip()
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def _doubles(lines: Sequence[Line]) -> list[Problem]:
    seen: dict[str, int] = {}
    problems = []
    for item in lines:
        first = seen.setdefault(item.from_path, item.number)
        if first != item.number:
            sentence = _("Line %(first)s leads on from %(from_path)s already.") % {
                "first": first,
                "from_path": item.from_path,
            }
            problems.append(Problem(item.number, "fromPath", sentence))
    return problems
