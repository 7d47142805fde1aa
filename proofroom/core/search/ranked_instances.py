"""Search results as instances or values, which can be counted and sliced like a queryset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from proofroom.core.search.entries import RANK
from proofroom.core.search.index import match_words
from proofroom.core.search.query import Part, SearchedWords, Way
from proofroom.core.search.ranked_rows import RankedRows

M = TypeVar("M", bound=Model)


class RankedInstances(RankedRows, Generic[M]):
    """The results of a search among rows, which can be counted and sliced like a queryset.

    `newest` is the order by age and ends with the key. `shown` turns rows into the results of slices; if it uses
    `values()`, they must include the key as `id`.
    """

    def __init__(
        self,
        rows: QuerySet[M],
        question: SearchedWords,
        newest: Sequence[str],
        shown: Callable[[QuerySet[M]], QuerySet[Any, Any]] = lambda rows: rows,
    ) -> None:
        super().__init__(question, newest)
        self._rows = rows
        self._shown = shown

    def filter(self, **conditions: Any) -> RankedInstances[M]:
        """Return the results that also match these conditions."""
        return RankedInstances(
            self._rows.filter(**conditions), self._question, self._newest, self._shown
        )

    def matching(self) -> QuerySet[M]:
        """Return all results as a queryset in the order of the rows."""
        return self._matching(Part.ALL, Way.INDEX if self._are_few else Way.SET)

    def ranked(self) -> QuerySet[M]:
        """Return all results as a queryset in the order of their rank. Slow if there are many."""
        return self.matching().order_by(f"-{RANK}", *self._newest)

    def count(self) -> int:
        return self.matching().order_by().count()

    def __getitem__(self, part: slice) -> list[Any]:
        begin, end = part.start or 0, part.stop
        if self._are_few:
            return list(self._shown(self.ranked())[begin:end])
        keys = self._keys_of_many(begin, end)
        rows = {
            row["id"] if isinstance(row, Mapping) else row.pk: row
            for row in self._shown(self._rows.filter(pk__in=keys))
        }
        # A row deleted in between is missing.
        return [rows[key] for key in keys if key in rows]

    @property
    def _queryset(self) -> QuerySet[M]:
        return self._rows

    def _matching(self, part: Part, way: Way) -> QuerySet[M]:
        return match_words(self._rows, self._question, part, way)

    def _count_part(self, part: Part, way: Way) -> int:
        return self._matching(part, way).order_by().count()

    def _newest_with_rank(self, part: Part, way: Way, limit: int) -> list[tuple[UUID, float]]:
        found = self._matching(part, way).order_by(*self._newest)
        return list(found.values_list("pk", RANK)[:limit])

    def _keys_by_age(self, part: Part, way: Way, begin: int, end: int) -> list[UUID]:
        found = self._matching(part, way).order_by(*self._newest)
        return list(found.values_list("pk", flat=True)[begin:end])
