"""Rejected changes: stored as proposed, and shown with new proposals on the same path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

from django.db.models import F, JSONField, OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from content.document.changes import Change, Changes, Kind, Value, diff, same
from content.document.document import PostDocument
from content.document.stored_values import stored_size, value_from_json, value_to_json
from content.models import Post, QueuedChange, RejectedChange
from content.models.rejected_change import KEPT
from content.store.digest import fingerprint, value_hash
from content.store.layer_state import LayerView, Marks, mark_of, parts_of, read_marks
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event

MAX_REJECTED_BYTES: Final = 256_000
"""Maximum size of one stored change. Larger ones are not stored."""
MAX_REJECTIONS_PER_PATH: Final = 20
"""Maximum number of rejections read per path, the latest ones."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposal of a rejected change. `order` and `below`: the order of modules in the layer and below it."""

    kind: Kind
    after: Value
    behind: str
    order: tuple[str, ...]
    below: tuple[str, ...]
    marks: Marks

    def change(self, path: str, before: Value) -> Change:
        """Return the proposal as a change of `before`."""
        return Change(path, self.kind, before, self.after, self.behind)

    def to_json(self) -> JsonObject:
        marks: JsonObject = {path: mark.to_json() for path, mark in self.marks.items()}
        return {
            "kind": self.kind,
            "after": value_to_json(self.after),
            "behind": self.behind,
            "order": list(self.order),
            "below": list(self.below),
            "marks": marks,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Proposal:
        return cls(
            kind=cast(Kind, value["kind"]),
            after=value_from_json(cast(JsonObject, value["after"])),
            behind=cast(str, value["behind"]),
            order=tuple(cast("Sequence[str]", value["order"])),
            below=tuple(cast("Sequence[str]", value["below"])),
            marks=read_marks(cast("dict[str, JsonObject]", value["marks"])),
        )


def store_rejected_changes(
    view: LayerView, post: Post, dropped: Changes, after: PostDocument, rejection: int
) -> None:
    """Store the removed changes, for `content.inbox.rejections`. `after`: the layer without them."""
    left = set(diff(view.below, after).paths)
    named = {change.path: change for change in dropped}
    rows: list[RejectedChange] = []
    for whole in view.changes:
        # Without one of its moves, the whole order can equal the order below, so that the other moves are no changes
        # any more. Store those too.
        if whole.path not in named and whole.path in left:
            continue
        change = named.get(whole.path, whole)
        is_placed = change.kind in ("added", "moved")
        # Store the authors, and whether the change had drifted.
        marks = parts_of(view.marks, change.path)
        mark = mark_of(view.marks, change.path)
        if mark is not None:
            marks[change.path] = replace(mark, drifted=mark.drifted or change.path in view.drifted)
        proposal = Proposal(
            kind=change.kind,
            after=change.after,
            behind=change.behind,
            order=view.changes.order if is_placed else (),
            below=view.below.order if change.kind == "moved" else (),
            marks=marks,
        ).to_json()
        size = stored_size(proposal)
        rows.append(
            RejectedChange(
                post=post,
                rejection=rejection,
                layer=view.layer,
                path=change.path,
                seen=fingerprint(change),
                proposal=proposal if size <= MAX_REJECTED_BYTES else None,
                agent_id=mark.agent_id if mark is not None else "",
                principal=mark.principal if mark is not None else "",
            )
        )
    RejectedChange.objects.bulk_create(rows)


@dataclass(frozen=True, slots=True)
class EarlierRejection:
    """One rejection of a path that was not undone. `is_same`: the value proposed now was rejected then.

    `proposal`: the rejected proposal, None if it was too large to store.
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
        """The rejected value, None if it was not stored."""
        return self.proposal.after if self.proposal is not None else None


@dataclass(frozen=True, slots=True)
class EarlierRejections:
    """The rejections of some posts by path, newest first."""

    found: Mapping[tuple[UUID, str], tuple[EarlierRejection, ...]] = field(default_factory=dict)

    def of(self, post_id: UUID, change: Change) -> tuple[EarlierRejection, ...]:
        """Return the rejections at the path of a change, with `is_same` set."""
        return tuple(
            replace(
                one,
                is_same=same(one.proposal.after, change.after)
                if one.proposal is not None
                else one.seen == fingerprint(change),
            )
            for one in self.found.get((post_id, change.path), ())
        )

    def of_queued(self, row: QueuedChange) -> tuple[EarlierRejection, ...]:
        """Return the rejections for an inbox row, with `is_same` set.

        Rows contain only excerpts, so hashes are compared.
        """
        return tuple(
            replace(
                one,
                is_same=one.seen == row.seen
                or (one.proposal is not None and value_hash(one.proposal.after) == row.proposed),
            )
            for one in self.found.get((row.post_id, row.path), ())
        )

    def latest(self) -> list[EarlierRejection]:
        """Return all rejections, newest first."""
        every = [one for ones in self.found.values() for one in ones]
        return sorted(every, key=lambda one: one.at, reverse=True)


def _latest(rows: QuerySet[RejectedChange]) -> QuerySet[Any, Any]:
    """Return the latest rejections per post and path with the data of their events, newest first."""
    event = Event.objects.filter(pk=OuterRef("rejection"))
    nth = Window(RowNumber(), partition_by=[F("post"), F("path")], order_by=[F("rejection").desc()])
    annotated: QuerySet[Any, Any] = rows.filter(taken_back_at__isnull=True).annotate(
        nth=nth,
        event_payload=Subquery(event.values("payload")[:1], output_field=JSONField()),
        event_at=Subquery(event.values("created_at")[:1]),
        by_id=Subquery(event.values("actor_id")[:1]),
        by_name=Subquery(event.values("actor_name")[:1]),
    )
    latest = annotated.filter(nth__lte=MAX_REJECTIONS_PER_PATH).order_by("-rejection", "pk")
    return latest.values(
        *("post_id", "path", "created_at", "seen", "proposal"),
        *("event_payload", "event_at", "by_id", "by_name"),
    )


_OF_POSTS: Final = CompiledQuery(
    lambda since, posts: _latest(
        RejectedChange.objects.filter(post__in=posts, created_at__gte=since)
    )
)
_ON_PATHS: Final = CompiledQuery(
    lambda since, posts, paths: _latest(
        RejectedChange.objects.filter(post__in=posts, created_at__gte=since, path__in=paths)
    )
)


def earlier_rejections(
    posts: Collection[UUID], paths: Collection[str] | None = None
) -> EarlierRejections:
    """Return the rejections in both layers of the posts that were not undone, at `paths` or at any path.

    One query, none if `posts` or `paths` is empty.
    """
    if not posts or (paths is not None and not paths):
        return EarlierRejections()
    since, ids = timezone.now() - KEPT, sorted(set(posts))
    rows = (
        _OF_POSTS.rows(since, ids)
        if paths is None
        else _ON_PATHS.rows(since, ids, sorted(set(paths)))
    )
    found: dict[tuple[UUID, str], list[EarlierRejection]] = defaultdict(list)
    for row in rows:
        # The event has the reviewer, time and reason. It may be deleted before the row.
        payload, proposal = row["event_payload"], row["proposal"]
        note = payload.get("note") if isinstance(payload, dict) else None
        found[row["post_id"], row["path"]].append(
            EarlierRejection(
                path=row["path"],
                at=row["event_at"] or row["created_at"],
                by_id=row["by_id"],
                by=row["by_name"] or "",
                note=str(note or ""),
                seen=row["seen"],
                proposal=Proposal.from_json(proposal) if proposal is not None else None,
            )
        )
    return EarlierRejections({key: tuple(ones) for key, ones in found.items()})


def rejections_before(
    post: Post, changes: Iterable[Change]
) -> Mapping[str, tuple[EarlierRejection, ...]]:
    """Return the earlier rejections at the paths of these changes, by path. One query."""
    listed = list(changes)
    earlier = earlier_rejections([post.pk], {change.path for change in listed})
    found = {change.path: earlier.of(post.pk, change) for change in listed}
    return {path: ones for path, ones in found.items() if ones}


def rejections_before_queued(
    rows: Iterable[QueuedChange],
) -> Mapping[int, tuple[EarlierRejection, ...]]:
    """Return the earlier rejections for inbox rows, by row id. One query."""
    listed = list(rows)
    earlier = earlier_rejections({row.post_id for row in listed}, {row.path for row in listed})
    found = {row.pk: earlier.of_queued(row) for row in listed}
    return {pk: ones for pk, ones in found.items() if ones}
