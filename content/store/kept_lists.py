"""What a process knows of lists of posts until content changes: how many there are, and where far parts begin.

Counting reads an entry of an index for every post, and a part far back one for every post before it. Whatever changes
which posts there are, or the type, language, status or dates of one, counts the content version up in the same
transaction: at the same version a list is the same.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import F, Func, IntegerField, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable

from content.models import Post
from proofroom.core.caching.content_version import live_state, parse_state, state_text
from proofroom.core.caching.version_lease import LiveState, lease
from proofroom.core.database.statements import Argument, Row, Statement

DEEP_FROM: Final = 200
"""Rows before a part of a list that make it deep."""
_MOST_LISTS: Final = 200
_MOST_PLACES: Final = 1000
"""Places that are kept of a list."""
_COUNT: Final = Func("pk", function="COUNT", output_field=IntegerField())


def total_of(posts: QuerySet[Post]) -> Subquery:
    """How many they are, for the column `total` beside each of some of them."""
    return Subquery(posts.order_by().annotate(total=_COUNT).values("total"))


def counted(posts: QuerySet[Post]) -> QuerySet[Any, Any]:
    """One row, with `total` and `read_at`."""
    return posts.order_by().values(total=_COUNT, read_at=state_text())


def place_columns(by: str) -> dict[str, Combinable]:
    """Columns that say where a row stands in the order of a time, the latest first, and of ids."""
    return {"place_moment": F(by), "place_id": F("pk"), "read_at": state_text()}


PLACE_COLUMNS: Final = frozenset(place_columns("updated_at"))


def from_place(posts: QuerySet[Post], by: str, moment: datetime, id_: UUID) -> QuerySet[Post]:
    """Those of the posts that stand at a place in that order, or after it."""
    after = Q(**{f"{by}__lt": moment}) | Q(pk__gte=id_)
    return posts.filter(after, **{f"{by}__lte": moment})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a list begins, `skipped` rows before the part that is wanted."""

    key: tuple[datetime, UUID]
    skipped: int


@dataclass(slots=True)
class _KeptList:
    at: LiveState
    total: int | None = None
    offsets: list[int] = field(default_factory=list)
    """In ascending order."""
    places: dict[int, tuple[datetime, UUID]] = field(default_factory=dict)

    def near(self, begin: int) -> Place | None:
        """The last place that is known before a part, unless it is far from it."""
        index = bisect_right(self.offsets, begin) - 1
        offset = self.offsets[index] if index >= 0 else None
        if offset is None or begin - offset > DEEP_FROM:
            return None
        return Place(self.places[offset], begin - offset)

    def add(self, begin: int, row: Row) -> None:
        """Keep where a part begins, unless it is near to another one, or has no moment to be found by."""
        place = self.near(begin)
        is_near = place is not None and place.skipped <= DEEP_FROM // 2
        if not is_near and row["place_moment"] is not None and len(self.places) < _MOST_PLACES:
            self.places[begin] = row["place_moment"], row["place_id"]
            insort(self.offsets, begin)


@dataclass(frozen=True, slots=True)
class ListPart:
    """The part of a list from `begin` on.

    `of` is a name that tells lists apart. `read` reads the part: with `total` beside its rows or not, from a place
    or by passing over what is before it. Rows have `read_at`. With `has_places` those of a deep part have the
    `place_columns`: the list is in their order.
    """

    of: Hashable
    begin: int
    read: Callable[[bool, Place | None], list[Row]]
    has_places: bool = False

    @property
    def has_place(self) -> bool:
        """Whether its place is worth keeping. SQLite puts what has no date last, where no place finds it."""
        return self.has_places and self.begin >= DEEP_FROM and connection.vendor == "postgresql"


@dataclass(slots=True)
class KeptLists:
    """Lists by their names.

    Inside a transaction nothing is kept and nothing used: what it sees may never be, and its own changes count up the
    version only after they are made.
    """

    _lists: dict[Hashable, _KeptList] = field(default_factory=dict)

    def read(self, part: ListPart, *, counts: bool = False) -> list[Row]:
        """The rows of a part. One query; two where the list is not what it was."""
        if not part.has_place:
            return part.read(counts, None)
        kept = self._find(part.of)
        place = kept.near(part.begin) if kept is not None else None
        rows = part.read(counts, place)
        is_past = not rows or kept is None or parse_state(rows[0]["read_at"]) != kept.at
        if place is not None and is_past:
            rows = part.read(counts, None)
        if rows and (known := self._kept_at(part.of, rows[0])) is not None:
            known.add(part.begin, rows[0])
        return rows

    def read_and_count(
        self, part: ListPart, count: Statement, arguments: Sequence[Argument]
    ) -> tuple[list[Row], int]:
        """The rows of a part, and the total of its list, which `count` asks for alone.

        One query; up to three where the list is not what it was, two where the part lies beyond its end.
        """
        kept = self._find(part.of)
        total = kept.total if kept is not None else None
        rows = self.read(part, counts=total is None)
        if not rows and not part.begin:
            return rows, 0
        if rows and total is None:
            return rows, self._keep_total(part.of, rows[0])
        if (
            rows
            and total is not None
            and kept is not None
            and parse_state(rows[0]["read_at"]) == kept.at
        ):
            return rows, total
        return rows, self._keep_total(part.of, count.rows(*arguments)[0])

    def total(self, posts: QuerySet[Post]) -> int:
        """The number of posts of a list that nothing but live content narrows.

        One query; two where the list is not what it was.
        """
        of = posts.order_by().query.sql_with_params()
        kept = self._find(of)
        if kept is not None and kept.total is not None and live_state() == kept.at:
            return kept.total
        return self._keep_total(of, counted(posts)[0])

    def _find(self, of: Hashable) -> _KeptList | None:
        """What is kept, unless this process knows already that it is of the past."""
        kept = self._lists.get(of)
        if kept is None or connection.in_atomic_block:
            return None
        return kept if lease.current() in (None, kept.at) else None

    def _keep_total(self, of: Hashable, row: Row) -> int:
        total: int = row["total"]
        kept = self._kept_at(of, row)
        if kept is not None:
            kept.total = total
        return total

    def _kept_at(self, of: Hashable, row: Row) -> _KeptList | None:
        """What is to be kept of the state that a row was read at."""
        if row["read_at"] is None or connection.in_atomic_block:
            return None
        at = parse_state(row["read_at"])
        kept = self._lists.get(of)
        if kept is None or kept.at != at:
            if len(self._lists) >= _MOST_LISTS:
                self._lists.clear()
            kept = self._lists[of] = _KeptList(at)
        return kept


kept_lists: Final = KeptLists()
