"""Checks for contradictions between the rows of one archive, before any lookup or write."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from django.utils.translation import gettext as _

from proofroom.archive.container import ArchiveError
from proofroom.core.json import Json, JsonObject

NumberedRow = tuple[int, Mapping[str, Json]]
"""The line number of a row, and its raw JSON object."""
_SHOWN_CHARACTERS: Final = 60


def numbered_rows(
    lines: Iterator[bytes], watch: Callable[[], None] | None = None
) -> Iterator[NumberedRow]:
    """Yield the rows that are JSON objects. Other lines are refused when the rows are read."""
    for number, line in enumerate(lines, start=1):
        if watch is not None:
            watch()
        try:
            row = orjson.loads(line)
        # Every line is validated with its own message in `ArchiveImport.rows`, so it is not reported twice.
        except orjson.JSONDecodeError:
            continue
        if isinstance(row, dict):
            yield number, row


class DuplicateFinder:
    """Finds duplicate values across the rows of a kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        # Digests, so that memory stays small for archives with millions of rows.
        self._lines: dict[bytes, int] = {}

    def add(self, number: int, row: Mapping[str, Json], what: str, values: Sequence[Json]) -> None:
        """Raise `ArchiveError` if another row has the same values. `what` names the fields, such as `id`."""
        text = orjson.dumps([what, values], default=str)
        key = hashlib.blake2b(text, digest_size=16).digest()
        first = self._lines.setdefault(key, number)
        if first != number:
            shown_values = ", ".join(str(value)[:_SHOWN_CHARACTERS] for value in values)
            raise row_error(
                self.kind,
                number,
                row,
                _(
                    "line %(first)s has the same %(fields)s: %(values)s. Leave out one of the two, "
                    "or export the archive again."
                )
                % {"first": first, "fields": what, "values": shown_values},
            )


def row_error(kind: str, number: int, row: Mapping[str, Json], sentence: str) -> ArchiveError:
    """Return the error for a row, with its line and title."""
    where = {"name": f"{kind}.jsonl", "number": number, "title": title_of(row), "reason": sentence}
    if where["title"]:
        return ArchiveError(_("%(name)s, line %(number)s (%(title)s): %(reason)s") % where)
    return ArchiveError(_("%(name)s, line %(number)s: %(reason)s") % where)


def title_of(row: Mapping[str, Json]) -> str:
    """Return the title of a row for messages; empty if it has none."""
    named: Any = row.get("document")
    post = named.get("post") if isinstance(named, dict) else None
    values: JsonObject = {**row, **(post if isinstance(post, dict) else {})}
    names = ("title", "name", "label", "filename", "slug", "fromPath")
    found = next((values[name] for name in names if isinstance(values.get(name), str)), "")
    return " ".join(str(found).split())[:_SHOWN_CHARACTERS]


def refuse_duplicates(
    kind: str, rows: Iterator[NumberedRow], unique: Sequence[Sequence[str]]
) -> None:
    """Raise `ArchiveError` if two rows have the same values in one of the groups of fields."""
    seen = DuplicateFinder(kind)
    for number, row in rows:
        for fields in unique:
            values = [row.get(name) for name in fields]
            # Like NULL in a unique constraint, a missing value never conflicts.
            if None not in values:
                seen.add(number, row, " + ".join(fields), values)
