"""Submissions as CSV, row by row, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from django.db.models import QuerySet

from core.json import Json
from forms.models import FormSubmission
from forms.queries import columns_of

_CHUNK: Final = 500
_BEGINS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Echo:
    """A file whose `write` answers the line instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def csv_lines(slug: str, rows: QuerySet[FormSubmission]) -> Iterator[str]:
    """The lines of the file, the header first. A column per field, by its label."""
    payloads = rows.order_by().values_list("payload", flat=True)
    columns = columns_of(slug, payloads.iterator(chunk_size=_CHUNK))
    writer = csv.writer(_Echo())
    # Without the mark Excel takes UTF-8 for something else.
    yield "\ufeff" + str(writer.writerow(["ID", "Submitted", "Locale", *_titles(columns)]))
    for row in rows.iterator(chunk_size=_CHUNK):
        at = row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        cells = [_cell(row.payload.get(name)) for name in columns]
        yield str(writer.writerow([row.pk, at, row.locale, *cells]))


def _titles(columns: Mapping[str, str]) -> list[str]:
    """Labels; with the name where two fields share one."""
    uses = Counter(columns.values())
    return [
        str(_cell(label if uses[label] == 1 else f"{label} ({name})"))
        for name, label in columns.items()
    ]


def _cell(value: Json) -> str | int | float:
    """What a spreadsheet shows as it is: a text that would begin a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = str(value)
    return f"'{text}" if text.startswith(_BEGINS_FORMULA) else text
