"""Find what was rejected before on the paths of new proposals. One query, however many paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, cast
from uuid import UUID

from django.db.models import F, JSONField, OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from content.changes import Change, Value, same
from content.layers.digest import fingerprint, value_hash
from content.layers.rejected import Proposal
from content.models import Post, QueuedChange, RejectedChange
from content.models.rejected_change import KEPT
from proofroom.core.json import JsonObject
from proofroom.core.models import Event

MAX_REJECTIONS_PER_PATH: Final = 20
"""Rejections of one path that are read; older ones are left out."""
_MOST_NAMED: Final = 500
"""Paths that a query names; of more, all rejections of the posts are read."""


@dataclass(frozen=True, slots=True)
class EarlierRejection:
    """One rejection of a path that stands: when, by whom and why. `is_same`: it rejected the same words.

    `proposal` is what was rejected, None where it was too large to keep.
    """

    path: str
    at: datetime
    by_id: int | None
    by: str
    note: str
    seen: str
    proposal: Proposal | None
    is_same: bool = False

    @property
    def value(self) -> Value:
        """The value that was rejected; None where it is not kept."""
        return self.proposal.after if self.proposal is not None else None


@dataclass(frozen=True, slots=True)
class EarlierRejections:
    """The rejections of some posts by path, newest first."""

    found: Mapping[tuple[UUID, str], tuple[EarlierRejection, ...]] = field(default_factory=dict)

    def of(self, post_id: UUID, change: Change) -> tuple[EarlierRejection, ...]:
        """Those of the path of a change, each told whether it rejected the same value."""
        return tuple(
            replace(one, is_same=_is_same(one, change))
            for one in self.found.get((post_id, change.path), ())
        )

    def of_queued(self, row: QueuedChange) -> tuple[EarlierRejection, ...]:
        """Those of a line of the inbox. It has only excerpts: the value is compared where it is all there."""
        return tuple(
            replace(one, is_same=_is_same_as_queued(one, row))
            for one in self.found.get((row.post_id, row.path), ())
        )

    def latest(self) -> list[EarlierRejection]:
        """All of them, newest first."""
        every = [one for ones in self.found.values() for one in ones]
        return sorted(every, key=lambda one: one.at, reverse=True)


def earlier_rejections(
    posts: Collection[UUID], paths: Collection[str] | None = None
) -> EarlierRejections:
    """Return what was rejected on these paths of posts, or on any path, in either layer, and was not taken back.

    One query; none where there is no post or no path.
    """
    if not posts or (paths is not None and not paths):
        return EarlierRejections()
    found: dict[tuple[UUID, str], list[EarlierRejection]] = defaultdict(list)
    for row in _rows(posts, paths):
        # The event says who, when and why; it may be gone before the row is.
        payload = getattr(row, "event_payload", None)
        note = payload.get("note") if isinstance(payload, dict) else None
        proposal = cast("JsonObject | None", row.proposal)
        found[row.post_id, row.path].append(
            EarlierRejection(
                path=row.path,
                at=getattr(row, "event_at", None) or row.created_at,
                by_id=getattr(row, "by_id", None),
                by=getattr(row, "by_name", None) or "",
                note=str(note or ""),
                seen=row.seen,
                proposal=Proposal.from_json(proposal) if proposal is not None else None,
            )
        )
    return EarlierRejections({key: tuple(ones) for key, ones in found.items()})


def rejections_before(
    post: Post, changes: Iterable[Change]
) -> Mapping[str, tuple[EarlierRejection, ...]]:
    """By path, what was rejected before where these changes propose something. One query."""
    listed = list(changes)
    earlier = earlier_rejections([post.pk], {change.path for change in listed})
    found = {change.path: earlier.of(post.pk, change) for change in listed}
    return {path: ones for path, ones in found.items() if ones}


def rejections_before_queued(
    rows: Iterable[QueuedChange],
) -> Mapping[int, tuple[EarlierRejection, ...]]:
    """The same for lines of the inbox, by their ids. One query."""
    listed = list(rows)
    earlier = earlier_rejections({row.post_id for row in listed}, {row.path for row in listed})
    found = {row.pk: earlier.of_queued(row) for row in listed}
    return {pk: ones for pk, ones in found.items() if ones}


def _rows(posts: Collection[UUID], paths: Collection[str] | None) -> QuerySet[RejectedChange]:
    rows = RejectedChange.objects.filter(
        post__in=posts, taken_back_at__isnull=True, created_at__gte=timezone.now() - KEPT
    )
    if paths is not None and len(paths) <= _MOST_NAMED:
        rows = rows.filter(path__in=paths)
    event = Event.objects.filter(pk=OuterRef("rejection"))
    nth = Window(RowNumber(), partition_by=[F("post"), F("path")], order_by=[F("rejection").desc()])
    return (
        rows.annotate(
            nth=nth,
            event_payload=Subquery(event.values("payload")[:1], output_field=JSONField()),
            event_at=Subquery(event.values("created_at")[:1]),
            by_id=Subquery(event.values("actor_id")[:1]),
            by_name=Subquery(event.values("actor_name")[:1]),
        )
        .filter(nth__lte=MAX_REJECTIONS_PER_PATH)
        .order_by("-rejection", "pk")
    )


def _is_same(one: EarlierRejection, change: Change) -> bool:
    if one.proposal is None:
        return one.seen == fingerprint(change)
    return same(one.proposal.after, change.after)


def _is_same_as_queued(one: EarlierRejection, row: QueuedChange) -> bool:
    if one.seen == row.seen:
        return True
    return one.proposal is not None and value_hash(one.proposal.after) == row.proposed
