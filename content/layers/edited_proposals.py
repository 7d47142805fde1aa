"""Edited proposals: what an agent or AI client proposed, and what a person made of it before accepting it.

`record_edits` runs where a person changes a staged proposal, `record_acceptance` and `record_rejection` where a
reviewer decides, each in the transaction of that write. Agents and AI clients write no rows: a proposal that
replaces an edited one has another time, so that the old row no longer matches it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from content.document.changes import Value, same, value_at
from content.document.document import PostDocument
from content.document.stored_values import stored_size, value_from_json, value_to_json
from content.layers.selection import Selection
from content.models import EditedProposal, Post
from content.models.edited_proposal import EDITED_PROPOSALS_KEPT
from content.store.layer_state import Attribution, LayerView, Marks, mark_of
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject

MAX_VALUE_BYTES: Final = 256_000
"""Maximum size of one stored value. Larger ones are not stored."""
_AT_ONCE: Final = 500
_POSITION: Final = ".position"


def record_edits(view: LayerView, post: Post, paths: Iterable[str], actor: Actor) -> None:
    """Record what was proposed at these paths of a layer, before a person's edit replaces it.

    `view`: the layer before the edit. Later edits keep the first value. Positions are not recorded: they change
    with each other.
    """
    proposals = {
        path: mark
        for path in paths
        if not path.endswith(_POSITION)
        and (mark := mark_of(view.marks, path)) is not None
        and mark.is_ai
    }
    if not actor.is_person or not proposals:
        return
    known = _undecided(post, proposals, view.marks)
    again = [row.pk for row in known.values()]
    EditedProposal.objects.filter(pk__in=again).update(
        edited_by=actor.user.pk, edited_by_name=actor.user.username
    )
    EditedProposal.objects.bulk_create(
        [
            _row(post, path, value_at(view.document, path), mark, actor)
            for path, mark in proposals.items()
            if path not in known and mark.is_agents
        ]
    )


def record_acceptance(
    view: LayerView, post: Post, accepted: PostDocument, selection: Selection, actor: Actor
) -> None:
    """Record the accepted values of edited proposals. `view`: Review before, `accepted`: what is live now.

    No query if none of them was edited.
    """
    rows = _decide(view, post, selection, actor, rejection=None)
    for row in rows:
        value = value_at(accepted, row.path)
        row.accepted = _stored(value)
        row.is_changed = row.proposed is None or not same(value_from_json(row.proposed), value)
    # Where only some passages were accepted, the others still wait, as an edited proposal of their own.
    left = [_copy_undecided(row) for row in rows if _is_within(row.path, selection.rest.paths)]
    EditedProposal.objects.bulk_update(rows, [*_DECISION, "accepted", "is_changed"])
    EditedProposal.objects.bulk_create(left)


def record_rejection(
    view: LayerView, post: Post, selection: Selection, event: int, actor: Actor
) -> None:
    """Record that edited proposals were rejected, unless some of their passages stay. `view`: the layer before."""
    rows = _decide(view, post, selection, actor, rejection=event)
    whole = [row for row in rows if not _is_within(row.path, selection.rest.paths)]
    EditedProposal.objects.bulk_update(whole, _DECISION)


def reopen_rejected(post: Post, rejections: Collection[int], paths: Collection[str]) -> None:
    """Make edited proposals undecided again whose rejection was undone."""
    rows = EditedProposal.objects.filter(post=post, rejection__in=list(rejections))
    ids = [row.pk for row in rows if _is_within(row.path, paths)]
    EditedProposal.objects.filter(pk__in=ids).update(
        decided_at=None, decided_by=None, decided_by_name="", rejection=None
    )


def accepted_after_edit(since: datetime | None = None) -> QuerySet[EditedProposal]:
    """Return the proposals that were accepted with another value than proposed, newest first."""
    rows = EditedProposal.objects.filter(
        decided_at__isnull=False, rejection__isnull=True, is_changed=True
    )
    if since is not None:
        rows = rows.filter(decided_at__gte=since)
    return rows.order_by("-decided_at", "-pk")


def proposed_value(row: EditedProposal) -> Value:
    """Return the proposed value, None if it was too large to store."""
    return value_from_json(row.proposed) if row.proposed is not None else None


def accepted_value(row: EditedProposal) -> Value:
    """Return the accepted value, None if it was too large to store or nothing was accepted."""
    return value_from_json(row.accepted) if row.accepted is not None else None


def delete_old_edits() -> int:
    """Delete old records in batches and return their number. Safe to run twice."""
    old = EditedProposal.objects.filter(created_at__lt=timezone.now() - EDITED_PROPOSALS_KEPT)
    total = 0
    while ids := list(old.order_by("created_at").values_list("pk", flat=True)[:_AT_ONCE]):
        total += EditedProposal.objects.filter(pk__in=ids).delete()[0]
    return total


_DECISION: Final = ["decided_at", "decided_by", "decided_by_name", "rejection"]


def _decide(
    view: LayerView, post: Post, selection: Selection, actor: Actor, *, rejection: int | None
) -> list[EditedProposal]:
    """Return the undecided rows at the selected paths, with the decision set but not saved."""
    edited = [
        path
        for path, mark in view.marks.items()
        if mark.is_ai and mark.edited_by and _is_within(path, selection.paths)
    ]
    rows = list(_undecided(post, edited, view.marks).values()) if edited else []
    now = timezone.now()
    for row in rows:
        row.decided_at, row.rejection = now, rejection
        row.decided_by_id, row.decided_by_name = actor.user.pk, actor.user.username
    return rows


def _undecided(post: Post, paths: Iterable[str], marks: Marks) -> dict[str, EditedProposal]:
    """Return the undecided rows of the proposals that are staged at these paths. One query."""
    rows = EditedProposal.objects.filter(post=post, path__in=list(paths), decided_at__isnull=True)
    found: dict[str, EditedProposal] = {}
    for row in rows.order_by("pk"):
        mark = mark_of(marks, row.path)
        if mark is not None and parse_datetime(mark.at) == row.proposed_at:
            found[row.path] = row
    return found


def _row(post: Post, path: str, proposed: Value, mark: Attribution, actor: Actor) -> EditedProposal:
    return EditedProposal(
        post=post,
        path=path,
        proposed=_stored(proposed),
        proposed_at=parse_datetime(mark.at) or timezone.now(),
        author_id=mark.user_id,
        author_name=mark.user,
        agent_id=mark.agent_id,
        run_id=mark.run_id,
        via=mark.via,
        principal=mark.principal,
        edited_by_id=actor.user.pk,
        edited_by_name=actor.user.username,
    )


def _copy_undecided(row: EditedProposal) -> EditedProposal:
    return EditedProposal(
        post_id=row.post_id,
        path=row.path,
        proposed=row.proposed,
        proposed_at=row.proposed_at,
        author_id=row.author_id,
        author_name=row.author_name,
        agent_id=row.agent_id,
        run_id=row.run_id,
        via=row.via,
        principal=row.principal,
        edited_by_id=row.edited_by_id,
        edited_by_name=row.edited_by_name,
    )


def _stored(value: Value) -> JsonObject | None:
    encoded = value_to_json(value)
    return encoded if stored_size(encoded) <= MAX_VALUE_BYTES else None


def _is_within(path: str, parents: Collection[str]) -> bool:
    return any(path == other or path.startswith(other + ".") for other in parents)
