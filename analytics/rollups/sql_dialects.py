"""The few words of SQL that the two databases spell differently, so that each rule of counting is written once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import connection

_HEX: Final = "[0-9a-f]"
_PARTS: Final = (8, 4, 4, 4, 12)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Columns of events, as they are counted; `{0}` stands for an expression."""

    day: str
    month: str
    """Of the column `day`."""
    as_id: str
    """An id as people write it."""
    said: str
    """A text of the metadata, by its name."""
    number: str
    """A number of the metadata, by its name; nothing where it is none."""
    part: str
    """Of such a number, what is from 0 to 1."""
    is_id: str
    """Whether a text is one, in small letters."""
    whole: str
    """A number that is not negative, rounded down."""
    least: str
    greatest: str
    mapped: str
    """The pairs of a JSON object that is the parameter `hosts`."""


_POSTGRESQL: Final = Dialect(
    day="(created_at AT TIME ZONE 'UTC')::date",
    month="date_trunc('month', day)::date",
    as_id="{0}::text",
    said="metadata->>'{0}'",
    number="CASE WHEN jsonb_typeof(metadata->'{0}') = 'number' THEN (metadata->'{0}')::numeric END",
    # Rounded, as what is smaller than any float is an error there and not nothing.
    part="CASE WHEN {0} BETWEEN 0 AND 1 THEN round({0}, 20)::float8 END",
    is_id="{0} ~ '^" + "-".join(f"{_HEX}{{{{{number}}}}}" for number in _PARTS) + "$'",
    whole="floor({0})::integer",
    least="least",
    greatest="greatest",
    mapped="SELECT key AS given, value AS host FROM json_each_text(%(hosts)s::json)",
)
_SQLITE: Final = Dialect(
    day="date(created_at)",
    month="date(day, 'start of month')",
    as_id=" || '-' || ".join(
        f"substr({{0}}, {sum(_PARTS[:place]) + 1}, {number})" for place, number in enumerate(_PARTS)
    ),
    said="json_extract(metadata, '$.{0}')",
    number=(
        "CASE WHEN json_type(metadata, '$.{0}') IN ('integer', 'real') "
        "THEN json_extract(metadata, '$.{0}') END"
    ),
    part="CASE WHEN {0} BETWEEN 0 AND 1 THEN {0} + 0.0 END",
    is_id="{0} GLOB '" + "-".join(_HEX * number for number in _PARTS) + "'",
    whole="CAST({0} AS INTEGER)",
    least="min",
    greatest="max",
    # Grouped, though no key comes twice: only so does SQLite find a host by an index of its own.
    mapped="SELECT key AS given, max(value) AS host FROM json_each(%(hosts)s) GROUP BY key",
)


def dialect() -> Dialect:
    """That of the database."""
    return _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE
