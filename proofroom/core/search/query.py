"""Search queries and their SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from proofroom.core.database.compiled_queries import fetch
from proofroom.core.database.replica import reading_connection
from proofroom.core.search.entries import SearchTable
from proofroom.core.search.words import Word


@dataclass(frozen=True, slots=True)
class SearchedWords:
    """The words of a query, the last one as a prefix, and the locales to search."""

    table: SearchTable
    words: Sequence[Word]
    locales: Sequence[str]


class Part(Enum):
    """A subset of the entries that have every word."""

    ALL = auto()
    TITLES = auto()
    OTHERS = auto()


class Way(Enum):
    """The way PostgreSQL compares entries with the words. SQLite has only one."""

    INDEX = auto()
    """Find entries with the index, then read the row of each: for rare words."""
    SET = auto()
    """Find entries with the index, then look up rows among them in the requested order."""
    EACH = auto()
    """Read rows in their order and compare each until enough match: for very common words."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """SQL that selects a row if its entry has every word, and its rank: greater is better.

    `tables` are joined to the rows; the join condition is part of `where`.
    """

    where: str
    rank: str
    tables: Sequence[str] = ()
    parameters: Sequence[str] = ()
    rank_parameters: Sequence[str] = ()


def fetch_pair(sql: str, parameters: Sequence[str]) -> tuple[int, int]:
    """Run a query with two numbers, on the replica if there is one."""
    ((first, second),) = fetch(reading_connection(), sql, parameters)
    return first, second
