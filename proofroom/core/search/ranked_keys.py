"""Keys of search results, read with statements that are compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Model, QuerySet, Window

from proofroom.core.database.compiled_queries import CompiledQuery, Row
from proofroom.core.search.entries import RANK
from proofroom.core.search.index import backend, key_of
from proofroom.core.search.query import Part, SearchedWords, Way
from proofroom.core.search.ranked_rows import RankedRows


class RankedKeys(RankedRows):
    """The keys of search results, for frequently requested pages.

    `rows` returns the rows for its arguments. Searches with the same `rows` and the same form of query share a
    compiled statement.
    """

    def __init__(
        self,
        model: type[Model],
        rows: Callable[..., QuerySet[Any]],
        arguments: Sequence[str],
        question: SearchedWords,
        newest: tuple[str, ...],
    ) -> None:
        super().__init__(question, newest)
        self._model = model
        self._make_rows = rows
        self._arguments = tuple(arguments)
        self._total: int | None = None

    def page(self, begin: int, end: int) -> list[UUID]:
        """Return a slice of the keys, the best first. Two queries for rare words, one if no entry has them."""
        if not self._entries:
            return []
        if not self._are_few:
            return self._keys_of_many(begin, end)
        rows = self._read(_best_keys, Part.ALL, Way.INDEX, begin, end)
        # The total is a window function in the same query; SQLite's rows don't have it.
        if rows:
            self._total = rows[0].get("total")
        return [row["pk"] for row in rows]

    def count(self) -> int:
        if self._total is not None:
            return self._total
        return self._count_part(Part.ALL, Way.INDEX if self._are_few else Way.SET)

    @property
    def _queryset(self) -> QuerySet[Any]:
        return self._make_rows(*self._arguments)

    def _count_part(self, part: Part, way: Way) -> int:
        rows = self._read(_count_keys, part, way, 0, 1)
        return rows[0]["total"] if rows else 0

    def _newest_with_rank(self, part: Part, way: Way, limit: int) -> list[tuple[UUID, float]]:
        rows = self._read(_newest_keys, part, way, 0, limit)
        return [(row["pk"], row[RANK]) for row in rows]

    def _keys_by_age(self, part: Part, way: Way, begin: int, end: int) -> list[UUID]:
        return [row["pk"] for row in self._read(_newest_keys, part, way, begin, end)]

    def _read(self, read: _Read, part: Part, way: Way, begin: int, end: int) -> list[Row]:
        condition = backend().question(self._question, key_of(self._model), part, way)
        words = list(dict.fromkeys((*condition.parameters, *condition.rank_parameters)))
        form = _QueryForm(
            condition.where,
            condition.rank,
            tuple(condition.tables),
            tuple(map(words.index, condition.parameters)),
            tuple(map(words.index, condition.rank_parameters)),
        )
        statement = _compile(self._make_rows, self._newest, form, read, begin, end)
        return statement.rows(*self._arguments, *words)


@dataclass(frozen=True, slots=True)
class _QueryForm:
    """The SQL of a query without its words, with the index of the word for each parameter."""

    where: str
    rank: str
    tables: tuple[str, ...]
    words: tuple[int, ...]
    rank_words: tuple[int, ...]


_Read = Callable[[QuerySet[Any], Sequence[str]], QuerySet[Any, Any]]


@lru_cache(maxsize=200)
def _compile(
    rows: Callable[..., QuerySet[Any]],
    newest: Sequence[str],
    form: _QueryForm,
    read: _Read,
    begin: int,
    end: int,
) -> CompiledQuery:
    """Return the statement for a slice of the matching rows. Takes the arguments of `rows`, then the words."""
    count = max((*form.words, *form.rank_words)) + 1

    def build(*arguments: str) -> QuerySet[Any, Any]:
        words = arguments[-count:]
        found = rows(*arguments[:-count]).extra(  # noqa: S610  # only our own names
            tables=list(form.tables),
            where=[form.where],
            params=[words[place] for place in form.words],
            select={RANK: form.rank},
            select_params=[words[place] for place in form.rank_words],
        )
        return read(found, newest)[begin:end]

    return CompiledQuery(build)


def _best_keys(found: QuerySet[Any], newest: Sequence[str]) -> QuerySet[Any, Any]:
    ranked = found.order_by(f"-{RANK}", *newest)
    # SQLite cannot use bm25 together with a window function.
    is_counted = connection.vendor == "postgresql"
    return ranked.values("pk", total=Window(Count("*"))) if is_counted else ranked.values("pk")


def _newest_keys(found: QuerySet[Any], newest: Sequence[str]) -> QuerySet[Any, Any]:
    return found.order_by(*newest).values("pk", RANK)


def _count_keys(found: QuerySet[Any], newest: Sequence[str]) -> QuerySet[Any, Any]:
    return found.order_by().values(total=Window(Count("*")))
