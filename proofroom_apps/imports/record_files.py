"""Files of records: rows of CSV and objects of JSON, in any encoding."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Final

from django.utils.translation import gettext as _

from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom_apps.imports.items import Remark

LARGEST_FILE: Final = 200 * 1024 * 1024
MAX_COLUMNS: Final = 2_000
DELIMITERS: Final = ",;\t|"


@dataclass(frozen=True, slots=True)
class RecordFile:
    """The records of a file, each with its place, and remarks on the rest."""

    records: list[JsonObject]
    places: list[str]
    remarks: list[Remark]


def read_csv(path: Path) -> RecordFile:
    """Return the rows of a CSV file with a header, separated by commas, semicolons, tabs or bars.

    A row with more cells than the header becomes an error of the report. Raises `RuleViolation`.
    """
    text, remarks = _decoded(path)
    # Excel's first line, which names the delimiter.
    named = re.match(r"sep=(.)\r?\n", text)
    text = text[named.end() :] if named else text
    # Python's default of 131,072 characters is too small for a long text.
    csv.field_size_limit(10_000_000)
    rows = csv.reader(
        StringIO(text, newline=""),
        delimiter=named[1] if named else _delimiter_of(text),
        skipinitialspace=True,
        # Ambiguous quotes are refused, since a guess could lose text.
        strict=True,
    )
    found = RecordFile([], [], remarks)
    header: list[str] = []
    start = 1
    try:
        for cells in rows:
            line, start = start + bool(named), rows.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = read_header(cells, line)
                continue
            place = _("Line %(number)s") % {"number": line}
            extra = cells[len(header) :]
            nameless = [cell for name, cell in zip(header, cells, strict=False) if not name]
            if any(cell.strip() for cell in (*extra, *nameless)):
                message = _("Skipped: a cell contains text, but its column has no header.")
                found.remarks.append(Remark(place, message, "error"))
                continue
            record: JsonObject = {
                name: cell for name, cell in zip(header, cells, strict=False) if name
            }
            found.records.append(record)
            found.places.append(place)
    except csv.Error as error:
        why = _("line %(line)s: %(why)s") % {"line": start + bool(named), "why": error}
        raise RuleViolation(_("The file is not valid CSV: %(why)s") % {"why": why}) from None
    return found


def read_header(cells: Sequence[str], line: int) -> list[str]:
    """Return the names of the columns. Raises `RuleViolation` for too many or duplicate names."""
    if len(cells) > MAX_COLUMNS:
        text = _("Line %(line)s: the file has more than %(most)s columns.")
        raise RuleViolation(text % {"line": line, "most": f"{MAX_COLUMNS:,}"})
    header = [cell.strip() for cell in cells]
    counts = Counter(header)
    doubled = next((name for name in header if name and counts[name] > 1), "")
    if doubled:
        text = _("Line %(line)s: two columns are named %(name)s. Rename one.")
        raise RuleViolation(text % {"line": line, "name": doubled[:100]})
    return header


def _delimiter_of(text: str) -> str:
    """Return the most frequent delimiter in the header, ignoring quoted names."""
    header = re.match(r'\s*((?:"(?:[^"]|"")*"|[^"\r\n])+)', text)
    names = re.sub(r'"(?:[^"]|"")*"', "", header[1]) if header else ""
    return max(DELIMITERS, key=names.count)


def read_json(path: Path, place: str = "") -> RecordFile:
    """Return the objects of a list, of the list at a place such as `data.items`, or of lines.

    Raises `RuleViolation`.
    """
    text, remarks = _decoded(path)
    try:
        found = json.loads(text)
    except RecursionError:
        raise RuleViolation(_("The file is nested too deeply.")) from None
    except ValueError as error:
        # Not `splitlines`: strings of JSON may contain other line separators.
        lines = [line for line in text.split("\n") if line.strip()]
        try:
            found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            raise RuleViolation(_("The file is not valid JSON: %(why)s") % {"why": error}) from None
    found = value_at(found, place) if place else found
    if isinstance(found, Mapping) and not place:
        lists = {key: value for key, value in found.items() if isinstance(value, list) and value}
        usual = [key for key in ("data", "items", "posts", "entries") if key in lists]
        for key in [*lists] if usual else []:
            if key != usual[0]:
                why = _(
                    "Not read: the list %(name)s. To import it, name it as items in the mapping."
                )
                remarks.append(Remark(_("File"), why % {"name": key}))
        found = lists[usual[0]] if usual else [found]
    if not isinstance(found, list):
        raise invalid(
            "mapping",
            _(
                "The file has no list of objects at this level. Specify its key as "
                "items in the mapping."
            ),
        )
    records: list[JsonObject] = []
    places: list[str] = []
    for number, one in enumerate(found, 1):
        place = _("Record %(number)s") % {"number": number}
        if isinstance(one, dict):
            records.append(one)
            places.append(place)
        else:
            remarks.append(Remark(place, _("It is not an object; skipped."), "error"))
    return RecordFile(records, places, remarks)


def _decoded(path: Path) -> tuple[str, list[Remark]]:
    text, encoding = _decode(path)
    if encoding.startswith("utf"):
        return text, []
    message = _("The file is not UTF-8; it was read as Windows-1252.")
    return text, [Remark(path.name, message)]


def read_text(path: Path) -> str:
    """Return the text of a file in any encoding. Raises `RuleViolation`."""
    return _decode(path)[0]


def _decode(path: Path) -> tuple[str, str]:
    if path.stat().st_size > LARGEST_FILE:
        raise RuleViolation(
            _("The file is larger than %(most)s MB.") % {"most": LARGEST_FILE // 1024**2}
        )
    content = path.read_bytes()
    beginning = content[:2000]
    # UTF-16 without a byte order mark: every second byte of Western text is 0.
    zeros = [beginning[start::2].count(0) * 4 > len(beginning) // 2 for start in (0, 1)]
    encodings = ["utf-8-sig", "cp1252"]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif zeros[0] != zeros[1]:
        encodings = ["utf-16-be" if zeros[0] else "utf-16-le"]
    for encoding in encodings:
        try:
            return content.decode(encoding).replace("\x00", ""), encoding
        except UnicodeDecodeError:
            continue
    # Windows-1252 leaves some bytes undefined, Latin-1 none.
    return content.decode("latin-1").replace("\x00", ""), "latin-1"


def value_at(value: object, place: str) -> object:
    """Return the value at a place such as `seo.title` or `authors.0.name`, or None."""
    for part in place.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
