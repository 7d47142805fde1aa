"""What is kept to be searched: a table with an entry for each thing that can be found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

RANK: Final = "search_rank"
"""What the rows of `matching` can be ordered by; the best is the greatest."""
WEIGHTS: Final = (1_000_000, 10_000, 100, 1)
"""What a word counts in each of the four texts of an entry: once in the first beats a thousand times below."""


@dataclass(frozen=True, slots=True)
class SearchTable:
    """A table with an entry for each thing that can be found: `key` is the column of the thing's id.

    On PostgreSQL it has a column `document`, and for `RankedRows` a column `title` with the words of the first text;
    on SQLite the words stand in `<name>_words`, by the entry's id.
    """

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class SearchText:
    """A thing that can be found, with its four texts, the weightiest first."""

    key: UUID
    locale: str
    texts: tuple[str, str, str, str]
