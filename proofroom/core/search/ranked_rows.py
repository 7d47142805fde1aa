"""The best of many rows without reading all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import F, OrderBy, QuerySet, Window
from django.db.models.functions import RowNumber

from proofroom.core.database.row_counts import RowCount, planned_rows
from proofroom.core.search.index import backend
from proofroom.core.search.postgresql import PostgresqlSearch
from proofroom.core.search.query import Part, SearchedWords, Way, fetch_pair

MAX_RANKED: Final = 1_000
"""Number of matching entries up to which all are ranked. Ranking reads the whole text, about 10 µs per entry."""
MAX_OF_MANY: Final = 200
"""Number of newest rows that are ranked if there are more."""
MAX_IN_SET: Final = 10_000
"""Number of entries up to which reading them all is cheaper than comparing rows until enough match."""


class RankedRows(ABC):
    """Search results among rows, the best first.

    If few entries match, all rows are ranked. Otherwise rows with all words in their title come first, then the
    others. Of both, the newest `MAX_OF_MANY` are ordered by rank, and the rest by age.
    """

    def __init__(self, question: SearchedWords, newest: Sequence[str]) -> None:
        self._question = question
        self._newest = newest

    @property
    @abstractmethod
    def _queryset(self) -> QuerySet[Any]:
        """The rows to search in."""

    @abstractmethod
    def count(self) -> int:
        """Return the exact number of results. Takes longer the more entries match."""

    @abstractmethod
    def _count_part(self, part: Part, way: Way) -> int:
        """Return the number of rows of a part."""

    @abstractmethod
    def _newest_with_rank(self, part: Part, way: Way, limit: int) -> list[tuple[UUID, float]]:
        """Return the newest rows of a part with their rank."""

    @abstractmethod
    def _keys_by_age(self, part: Part, way: Way, begin: int, end: int) -> list[UUID]:
        """Return keys of a part, the newest first."""

    def estimate(self, limit: int) -> RowCount:
        """Return the number of results, exact up to `limit` or if counting is cheap.

        Beyond, the share of matches among the newest rows is extrapolated to all rows.
        """
        if connection.vendor != "postgresql" or way_for(self._entries) is not Way.EACH:
            return RowCount(self.count())
        place = Window(RowNumber(), order_by=[_order(name) for name in self._newest])
        rows = self._queryset.order_by().annotate(place=place).values("pk", "place")
        sql, parameters = rows.query.sql_with_params()
        condition = PostgresqlSearch.question(self._question, "seen.pk", way=Way.EACH)
        found, seen = fetch_pair(
            f"SELECT count(*), coalesce(max(place), 0) FROM (SELECT place FROM ({sql}) AS seen "  # noqa: S608
            f"WHERE {condition.where} LIMIT {limit + 1}) AS fitting",
            [*parameters, *condition.parameters],
        )
        if found <= limit:
            return RowCount(found)
        everything = max(seen, planned_rows(self._queryset))
        # `found` of the newest `seen` rows match. Apply this share to all rows.
        return RowCount(found * everything // seen, is_exact=False)

    def _keys_of_many(self, begin: int, end: int) -> list[UUID]:
        """Return a slice of the keys if many entries match."""
        wanted = end - begin
        keys: list[UUID] = []
        for part, entries in ((Part.TITLES, self._titles), (Part.OTHERS, self._entries)):
            if not entries:
                continue
            way = way_for(entries)
            size = MAX_OF_MANY
            if begin < MAX_OF_MANY:
                newest = self._newest_with_rank(part, way, MAX_OF_MANY)
                size = len(newest)
                # The sort is stable, so equal ranks stay ordered by age.
                ranked = sorted(newest, key=lambda row: -row[1])
                keys += [key for key, _ in ranked[begin:end]]
            if size == MAX_OF_MANY and end > MAX_OF_MANY:
                keys += self._keys_by_age(part, way, max(begin, MAX_OF_MANY), end)
            if len(keys) == wanted:
                break
            if part is Part.TITLES:
                size = self._count_part(part, way) if size == MAX_OF_MANY else size
                begin, end = max(0, begin - size), end - size
        return keys

    @property
    def _are_few(self) -> bool:
        return self._entries <= MAX_RANKED

    @property
    def _entries(self) -> int:
        return self._counts[0]

    @property
    def _titles(self) -> int:
        return self._counts[1]

    @cached_property
    def _counts(self) -> tuple[int, int]:
        """The number of entries with every word, and of those with all in the title, regardless of the rows."""
        if not self._question.words:
            return 0, 0
        return backend().count_entries(self._question, MAX_IN_SET + 1)


def way_for(entries: int) -> Way:
    if entries <= MAX_RANKED:
        return Way.INDEX
    return Way.SET if entries <= MAX_IN_SET else Way.EACH


def _order(name: str) -> OrderBy:
    return F(name.lstrip("-")).desc() if name.startswith("-") else F(name).asc()
