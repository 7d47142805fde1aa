"""How many posts a list has in all: counted again only after content changed.

Counting reads an entry of an index for every post. Whatever changes which posts there are, or the type, language or
status of one, counts the content version up in the same transaction: at the same version there are as many.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connection
from django.db.models import Func, IntegerField, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat

from content.models import Post
from proofroom.core.caching.version_lease import lease
from proofroom.core.database.statements import Argument, Row, Statement
from proofroom.core.models import ContentVersion

_MOST: Final = 500
"""Lists whose totals are kept."""
_COUNT: Final = Func("pk", function="COUNT", output_field=IntegerField())
_STATE: Final = ContentVersion.objects.filter(pk=1).values(
    state=Concat("epoch", Value(" "), Cast("number", TextField()), output_field=TextField())
)
_READ_STATE: Final = Statement(lambda: _STATE)


def counted_at() -> Subquery:
    """The state of the content that a statement reads, for its column `counted_at`."""
    return Subquery(_STATE)


def total_of(posts: QuerySet[Post]) -> Subquery:
    """How many they are, for the column `total` beside each of some of them."""
    return Subquery(posts.order_by().annotate(total=_COUNT).values("total"))


def counted(posts: QuerySet[Post]) -> QuerySet[Any, Any]:
    """One row, with `total` and `counted_at`."""
    return posts.order_by().values(total=_COUNT, counted_at=counted_at())


@dataclass(frozen=True, slots=True)
class _Total:
    at: str
    posts: int


@dataclass(slots=True)
class ListTotals:
    """Totals by list, as this process last counted them.

    Inside a transaction nothing is kept and nothing used: what it sees may never be, and its own changes count up the
    version only after they are made.
    """

    _totals: dict[Hashable, _Total] = field(default_factory=dict)

    def page(
        self,
        of: Hashable,
        page: Callable[[bool], Statement],
        count: Statement,
        arguments: Sequence[Argument],
        *,
        is_first: bool = True,
    ) -> tuple[list[Row], int]:
        """The rows of a page of the list `of`, and its total. `page(True)` counts beside the rows, `count` alone.

        Rows of both have `counted_at`. One query; two where the list is not what it was, or the page lies beyond its
        end.
        """
        kept = self._find(of)
        rows = page(kept is None).rows(*arguments)
        if not rows and is_first:
            return rows, 0
        if rows and kept is not None and rows[0]["counted_at"] == kept.at:
            return rows, kept.posts
        if rows and kept is None:
            return rows, self._keep(of, rows[0])
        return rows, self._keep(of, count.rows(*arguments)[0])

    def total(self, of: Hashable, posts: QuerySet[Post]) -> int:
        """The number of posts of the list `of`. One query; two where the list is not what it was."""
        kept = self._find(of)
        if kept is not None:
            states = _READ_STATE.rows()
            if states and states[0]["state"] == kept.at:
                return kept.posts
        return self._keep(of, counted(posts)[0])

    def _find(self, of: Hashable) -> _Total | None:
        """What is kept, unless this process knows already that it is of the past."""
        kept = self._totals.get(of)
        if kept is None or connection.in_atomic_block:
            return None
        version = lease.current()
        is_past = version is not None and not kept.at.endswith(f" {version}")
        return None if is_past else kept

    def _keep(self, of: Hashable, row: Row) -> int:
        total: int = row["total"]
        if row["counted_at"] is not None and not connection.in_atomic_block:
            if len(self._totals) >= _MOST:
                self._totals.clear()
            self._totals[of] = _Total(row["counted_at"], total)
        return total


list_totals: Final = ListTotals()
