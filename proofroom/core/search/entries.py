"""The search index: a table with an entry for each object that can be found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

RANK: Final = "search_rank"
"""Annotation to order the rows of `matching`. Greater is better."""
WEIGHTS: Final = (1_000_000, 10_000, 100, 1)
"""Weights of a word in the four texts of an entry. One match in the first text outweighs a thousand in the third."""


@dataclass(frozen=True, slots=True)
class SearchTable:
    """A table with an entry for each object. `key` is the column of the object's id.

    On PostgreSQL it has a column `document`, and for `RankedRows` a column `title` with the words of the first text.
    On SQLite the words are in `<name>_words`, by the entry's id.
    """

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class SearchText:
    """An object to index with its four texts, the most important first."""

    key: UUID
    locale: str
    texts: tuple[str, str, str, str]
