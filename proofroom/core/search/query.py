"""What is looked for, and the SQL that a database makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from proofroom.core.database.replica import reading_connection
from proofroom.core.database.statements import fetch
from proofroom.core.search.entries import SearchTable
from proofroom.core.search.words import Word


@dataclass(frozen=True, slots=True)
class SearchedWords:
    """What is looked for: words, the last one at least as a beginning, in the languages of these locales."""

    table: SearchTable
    words: Sequence[Word]
    locales: Sequence[str]


class Part(Enum):
    """Which entries are meant of those that have every word."""

    ALL = auto()
    TITLES = auto()
    OTHERS = auto()


class Way(Enum):
    """How PostgreSQL compares entries with the words. SQLite has one way only."""

    INDEX = auto()
    """The index finds the entries, then each has its row read: for words that few entries have."""
    SET = auto()
    """The index finds the entries, then rows are looked up among them, in the order that is asked for."""
    EACH = auto()
    """Rows are read in their order, and each is compared, until enough fit: for words that most entries have."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """SQL that holds for a row if its entry has every word, and how well it fits: more is better.

    `tables` are joined to the rows; the condition of the join is part of `where`.
    """

    where: str
    rank: str
    tables: Sequence[str] = ()
    parameters: Sequence[str] = ()
    rank_parameters: Sequence[str] = ()


def fetch_pair(sql: str, parameters: Sequence[str]) -> tuple[int, int]:
    """Run a query of one row with two numbers, on the replica where there is one."""
    ((first, second),) = fetch(reading_connection(), sql, parameters)
    return first, second
