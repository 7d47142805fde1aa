"""Submissions as CSV, row by row, safe to open in a spreadsheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from django.db.models import QuerySet

from forms.models import FormSubmission
from forms.queries import columns_of
from proofroom.core.csv_export import header_line, line

_CHUNK: Final = 500


def csv_lines(slug: str, rows: QuerySet[FormSubmission]) -> Iterator[str]:
    """The lines of the file, the header first. A column per field, by its label."""
    payloads = rows.order_by().values_list("payload", flat=True)
    columns = columns_of(slug, payloads.iterator(chunk_size=_CHUNK))
    yield header_line(["ID", "Submitted", "Locale", *_titles(columns)])
    for row in rows.iterator(chunk_size=_CHUNK):
        at = row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        cells = [row.payload.get(name) for name in columns]
        yield line([str(row.pk), at, row.locale, *cells])


def _titles(columns: Mapping[str, str]) -> list[str]:
    """Labels; with the name where two fields share one."""
    uses = Counter(columns.values())
    return [label if uses[label] == 1 else f"{label} ({name})" for name, label in columns.items()]
