"""What became of the proposals of one credential or agent: open, accepted, edited before acceptance, or rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.expressions import Combinable
from django.utils import timezone

from content.document.changes import ABSENT, Value, value_at
from content.document.document import PostDocument
from content.document.stored_values import value_from_json
from content.layers import Layers, open_layers_of_many
from content.layers.edited_proposals import proposed_value
from content.models import EditedProposal, Layer, Post, Provenance, QueuedChange, RejectedChange
from content.models.rejected_change import KEPT
from content.store.post_queries import reachable_posts
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.models import Event


class ProposalState(StrEnum):
    """`EDITED`: accepted with another value than proposed, so not `ACCEPTED`."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class OwnProposal:
    """One proposal. `at`: when it was made, or decided on. `note`: what the person wrote with the decision.

    `proposed`: None if it was not stored. `accepted`: only for `EDITED`, else `ABSENT`. `key`: place in the list.
    """

    post_id: UUID
    path: str
    state: ProposalState
    at: datetime
    note: str
    proposed: Value
    accepted: Value
    key: tuple[datetime, int, int]


@dataclass(frozen=True, slots=True)
class ProposalPage:
    """`has_more`: older proposals follow the last item."""

    items: list[OwnProposal]
    total: int
    has_more: bool


@dataclass(frozen=True, slots=True)
class _Source:
    """Rows of one table, newest first by `moment`. `rank` orders rows of different tables at one moment."""

    rank: int
    rows: QuerySet[Any]
    moment: str

    def after(self, key: tuple[datetime, int, int] | None, limit: int) -> list[Any]:
        rows = self.rows
        if key is not None:
            at, rank, pk = key
            behind = Q(**{f"{self.moment}__lt": at})
            if self.rank > rank:
                behind |= Q(**{self.moment: at})
            elif self.rank == rank:
                behind |= Q(**{self.moment: at}, pk__lt=pk)
            rows = rows.filter(behind)
        return list(rows.order_by(f"-{self.moment}", "-pk")[:limit])

    def key(self, row: Any) -> tuple[datetime, int, int]:
        return getattr(row, self.moment), self.rank, row.pk


_OPEN: Final = 0
_LIVE: Final = 1
_REJECTED: Final = 2


def list_own_proposals(
    actor: Actor,
    *,
    state: ProposalState | None = None,
    since: datetime | None = None,
    after: tuple[datetime, int, int] | None = None,
    limit: int = 20,
) -> ProposalPage:
    """Return the proposals of the actor's credential, or of its agent, newest first.

    Rejections are stored for 30 days. Posts that the actor may not view, and those in the trash, are left out. A
    fixed number of queries.
    """
    actor.require("posts.view")
    sources = _sources(actor, state, since)
    found = [(source, row) for source in sources for row in source.after(after, limit + 1)]
    # Rows of one table are in order already, and sorting is stable.
    found.sort(key=lambda one: getattr(one[1], one[0].moment), reverse=True)
    part = found[:limit]
    total = sum(source.rows.count() for source in sources)
    return ProposalPage(_present(part), total, len(found) > len(part))


def _sources(actor: Actor, state: ProposalState | None, since: datetime | None) -> list[_Source]:
    own = _of(actor)
    posts = visible_to(reachable_posts(), actor).values("pk")
    sources: list[_Source] = []
    if state in (None, ProposalState.OPEN):
        sources.append(_Source(_OPEN, QueuedChange.objects.filter(own), "at"))
    if state in (None, ProposalState.ACCEPTED, ProposalState.EDITED):
        live = Provenance.objects.filter(own).select_related("revision")
        live = live.annotate(is_edited=_is_edited())
        if state is not None:
            live = live.filter(is_edited=state == ProposalState.EDITED)
        sources.append(_Source(_LIVE, live, "created_at"))
    if state in (None, ProposalState.REJECTED):
        rejected = RejectedChange.objects.filter(
            own, taken_back_at__isnull=True, created_at__gte=timezone.now() - KEPT
        )
        sources.append(_Source(_REJECTED, rejected, "created_at"))
    found: list[_Source] = []
    for one in sources:
        rows = one.rows.filter(post__in=posts)
        if since is not None:
            rows = rows.filter(**{f"{one.moment}__gte": since})
        found.append(replace(one, rows=rows))
    return found


def _of(actor: Actor) -> Q:
    """Return the condition for rows of the credential; without one, of the agent that acts."""
    if actor.principal:
        return Q(principal=actor.principal[:100])
    return Q(agent_id=actor.agent_id or "", principal="") & ~Q(agent_id="")


def _is_edited() -> ExpressionWrapper[Combinable]:
    """Return an expression: whether a person changed the value before it was accepted."""
    edited_back = EditedProposal.objects.filter(
        post=OuterRef("post"),
        path=OuterRef("path"),
        proposed_at=OuterRef("written_at"),
        decided_at__isnull=False,
        is_changed=False,
    )
    edited = ~Q(edited_by_name="") & ~Exists(edited_back)
    return ExpressionWrapper(edited, output_field=BooleanField())


def _present(found: Sequence[tuple[_Source, Any]]) -> list[OwnProposal]:
    by_rank: dict[int, list[Any]] = {}
    for source, row in found:
        by_rank.setdefault(source.rank, []).append(row)
    queued, _live, rejected = (by_rank.get(rank, []) for rank in (_OPEN, _LIVE, _REJECTED))
    layers = _layers_of({row.post_id for row in queued})
    edits = _Edits(row.post_id for _, row in found)
    notes = _notes(rejected)
    items: list[OwnProposal] = []
    for source, row in found:
        if source.rank == _OPEN:
            state, note = ProposalState.OPEN, ""
            staged = layers[row.post_id].view(Layer(row.layer)).document
            record = edits.of_queued(row)
            proposed = value_at(staged, row.path) if record is None else proposed_value(record)
            accepted: Value = ABSENT
        elif source.rank == _LIVE:
            note = row.revision.note
            value = value_at(PostDocument.from_json(row.revision.document), row.path)
            record = edits.of_live(row)
            if row.is_edited:
                state, accepted = ProposalState.EDITED, value
                proposed = proposed_value(record) if record is not None else None
            else:
                state, proposed, accepted = ProposalState.ACCEPTED, value, ABSENT
        else:
            state, note, accepted = ProposalState.REJECTED, notes.get(row.rejection, ""), ABSENT
            record = edits.of_rejected(row)
            if record is not None:
                proposed = proposed_value(record)
            else:
                stored = row.proposal
                proposed = value_from_json(stored["after"]) if stored is not None else None
        key = source.key(row)
        items.append(
            OwnProposal(row.post_id, row.path, state, key[0], note, proposed, accepted, key)
        )
    return items


def _layers_of(ids: Iterable[UUID]) -> Mapping[UUID, Layers]:
    posts = list(Post.objects.filter(pk__in=set(ids)))
    return {layers.post.pk: layers for layers in open_layers_of_many(posts)} if posts else {}


def _notes(rejected: Iterable[RejectedChange]) -> Mapping[int, str]:
    """Return the reviewer's note by rejection. The event may be deleted before the row."""
    ids = {row.rejection for row in rejected}
    rows = Event.objects.filter(pk__in=ids).values_list("pk", "payload") if ids else []
    return {
        pk: str((payload.get("note") if isinstance(payload, dict) else None) or "")
        for pk, payload in rows
    }


class _Edits:
    """The records of edited proposals of some posts. One query."""

    def __init__(self, posts: Iterable[UUID]) -> None:
        ids = set(posts)
        rows = list(EditedProposal.objects.filter(post__in=ids)) if ids else []
        # Decisions on several passages of one proposal have the same proposed value.
        self._by_time = {(row.post_id, row.path, row.proposed_at): row for row in rows}
        self._by_rejection = {(row.rejection, row.path): row for row in rows if row.rejection}

    def of_queued(self, row: QueuedChange) -> EditedProposal | None:
        return self._by_time.get((row.post_id, row.path, row.at)) if row.edited_by_name else None

    def of_live(self, row: Provenance) -> EditedProposal | None:
        return self._by_time.get((row.post_id, row.path, row.written_at))

    def of_rejected(self, row: RejectedChange) -> EditedProposal | None:
        return self._by_rejection.get((row.rejection, row.path))
