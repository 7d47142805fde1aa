"""What the rows of one archive must not say of each other, checked before anything is looked up or stored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from django.utils.translation import gettext as _

from proofroom.archive.container import ArchiveError
from proofroom.core.json import Json, JsonObject

NumberedRow = tuple[int, Mapping[str, Json]]
"""A row as it is written, and the number of its line."""
_SHOWN: Final = 60


def numbered_rows(
    lines: Iterator[bytes], watch: Callable[[], None] | None = None
) -> Iterator[NumberedRow]:
    """The rows that are objects; whatever else a line holds is refused when it is read."""
    for number, line in enumerate(lines, start=1):
        if watch is not None:
            watch()
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(row, dict):
            yield number, row


class KnownRows:
    """Remembers which values rows have, by a digest of each, and refuses one that comes a second time."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._lines: dict[bytes, int] = {}

    def add(self, number: int, row: Mapping[str, Json], what: str, values: Sequence[Json]) -> None:
        """Raise `ArchiveError` where another row has these values already; `what` names them, as `id`."""
        text = orjson.dumps([what, values], default=str)
        key = hashlib.blake2b(text, digest_size=16).digest()
        first = self._lines.setdefault(key, number)
        if first != number:
            shown = ", ".join(str(value)[:_SHOWN] for value in values)
            raise contradiction(
                self.kind,
                number,
                row,
                _(
                    "line %(first)s has the same %(fields)s: %(values)s. Leave out one of the two, "
                    "or export the archive again."
                )
                % {"first": first, "fields": what, "values": shown},
            )


def contradiction(kind: str, number: int, row: Mapping[str, Json], sentence: str) -> ArchiveError:
    """The refusal of a row, with its line and title."""
    where = {"name": f"{kind}.jsonl", "number": number, "title": title_of(row), "reason": sentence}
    if where["title"]:
        return ArchiveError(_("%(name)s, line %(number)s (%(title)s): %(reason)s") % where)
    return ArchiveError(_("%(name)s, line %(number)s: %(reason)s") % where)


def title_of(row: Mapping[str, Json]) -> str:
    """What people call a row."""
    named: Any = row.get("document")
    post = named.get("post") if isinstance(named, dict) else None
    values: JsonObject = {**row, **(post if isinstance(post, dict) else {})}
    names = ("title", "name", "label", "filename", "slug", "fromPath")
    found = next((values[name] for name in names if isinstance(values.get(name), str)), "")
    return " ".join(str(found).split())[:_SHOWN]


def refuse_doubles(kind: str, rows: Iterator[NumberedRow], unique: Sequence[Sequence[str]]) -> None:
    """Raise `ArchiveError` where two rows have the same values in one of the groups of fields."""
    seen = KnownRows(kind)
    for number, row in rows:
        for fields in unique:
            values = [row.get(name) for name in fields]
            if None not in values:
                seen.add(number, row, " + ".join(fields), values)
