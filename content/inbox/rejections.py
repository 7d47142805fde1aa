"""Undo of rejections: propose rejected changes again, with their original authors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.document.changes import ABSENT, Change, Changes, apply, value_at
from content.document.labels import label_of, module_names
from content.layers import LayerView
from content.layers.edited_proposals import reopen_rejected
from content.layers.rejected_changes import Proposal
from content.models import Layer, Post, RejectedChange
from content.models.rejected_change import KEPT
from content.rules import check_changes
from content.store.digest import fingerprint
from content.store.layer_state import lock_post, open_layers, save_draft, settle
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.json import Json, JsonObject

_AT_ONCE: Final = 500
# Larger ids don't fit into a bigint column, and PostgreSQL refuses them.
_NO_ID: Final = 2**63


@dataclass(frozen=True, slots=True)
class UndoneRejections:
    """The result of an undo. `paths` are staged in the layer again."""

    post: Post
    layer: Layer
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StandingRejection:
    """A rejected change whose proposal is still stored."""

    row: RejectedChange
    proposal: Proposal

    def change(self, view: LayerView) -> Change:
        """Return the change relative to the layer's current document."""
        return self.proposal.change(self.row.path, value_at(view.document, self.row.path))


@transaction.atomic
def undo_rejections(
    *,
    post_id: UUID | str,
    rejections: Collection[int],
    actor: Actor,
    paths: Collection[str] | None = None,
) -> UndoneRejections:
    """Propose again the changes rejected from one layer, or only `paths`. The original authors stay.

    Raises `NotFound` if none is known, `RuleViolation` if a proposal is not stored or not allowed any more, and
    `Conflict` if it was already undone or the path changed since; then nothing changes.
    """
    actor.require_person("take a rejection back")
    actor.require("posts.review.approve")
    post = lock_post(post_id, actor)
    rows = _select_stored(find_rejections(post, rejections), paths)
    layers = open_layers(post)
    view = layers.view(Layer(rows[0].layer))
    stored = [
        StandingRejection(row, Proposal.from_json(cast(JsonObject, row.proposal))) for row in rows
    ]
    newer = [one.row.path for one in stored if not is_unchanged_since_rejection(one, view)]
    if newer:
        names = module_names(view.document, layers.review.document, layers.live)
        labels = ", ".join(label_of(path, view.document, names) for path in newer)
        text = ngettext(
            ("This has changed since, or its module was removed: %(labels)s. Nothing was changed."),
            (
                "These have changed since, or their modules were removed: "
                "%(labels)s. Nothing was changed."
            ),
            len(newer),
        )
        details = {path: [_("changed since it was rejected")] for path in newer}
        raise Conflict(text % {"labels": labels}, code="moved_on", details=details)
    document = apply(view.document, changes_of(stored, view))
    document = check_changes(
        post=post,
        before=view.document,
        after=document,
        actor=actor,
        is_handed_on=True,
        is_proposal=True,
    )
    marks = dict(view.marks)
    for one in stored:
        marks |= one.proposal.marks
    save_draft(view, post, document, marks, actor.user.pk)
    settle(post, layers.live)
    restored_paths = tuple(row.path for row in rows)
    now = timezone.now()
    RejectedChange.objects.filter(pk__in=[row.pk for row in rows]).update(
        proposal=None, taken_back_at=now, taken_back_by=actor.user.username
    )
    reopen_rejected(post, {row.rejection for row in rows}, restored_paths)
    _record(post, view.layer, stored, actor)
    return UndoneRejections(post, view.layer, restored_paths)


def find_rejections(post: Post, rejections: Collection[int]) -> list[RejectedChange]:
    """Return the stored changes of these rejections of a post, oldest first. Raises `NotFound`."""
    known = [id_ for id_ in rejections if 0 < id_ < _NO_ID]
    found = RejectedChange.objects.filter(post=post, rejection__in=known)
    rows = list(found.order_by("rejection", "pk"))
    paths = {row.path for row in rows}
    # The ids must belong to one layer, and no path may occur twice: only one of two proposals for it can be
    # restored.
    if not rows or len(paths) < len(rows) or len({row.layer for row in rows}) > 1:
        raise NotFound(_("This rejection does not exist, or is no longer stored."))
    return rows


def filter_restorable(rows: Iterable[RejectedChange]) -> list[StandingRejection]:
    """Return the rejected changes that still have a proposal."""
    return [
        StandingRejection(row, Proposal.from_json(row.proposal))
        for row in rows
        if row.proposal is not None
    ]


def changes_of(kept: Sequence[StandingRejection], view: LayerView) -> Changes:
    """Return the changes, with the module order at the time of the first rejection."""
    order = next((one.proposal.order for one in kept if one.proposal.order), ())
    return Changes(tuple(one.change(view) for one in kept), order)


def _select_stored(
    rows: Sequence[RejectedChange], paths: Collection[str] | None
) -> list[RejectedChange]:
    """Return the requested rows that are still stored. All positions of an order are restored together."""
    if paths is not None and not set(paths) <= {row.path for row in rows}:
        raise invalid("path", _("This rejection has no change with that name."))
    is_order = paths is None or any(map(_is_position, paths))
    requested = [
        row
        for row in rows
        if paths is None or row.path in paths or (is_order and _is_position(row.path))
    ]
    stored = [row for row in requested if row.is_kept]
    if stored and (paths is None or len(stored) == len(requested)):
        return stored
    if any(row.taken_back_at is not None for row in requested):
        raise Conflict(_("This has already been undone."), code="already_taken_back")
    raise RuleViolation(_("This was too large to be stored."), code="not_kept")


def is_unchanged_since_rejection(kept: StandingRejection, view: LayerView) -> bool:
    """Return whether the layer still holds the value that the proposal was to change."""
    change = kept.change(view)
    module_id = change.module_id
    is_there = module_id is None or view.document.module(module_id) is not None
    if change.kind == "moved":
        is_moved = any(other.kind == "moved" for other in view.changes)
        # Modules added or removed since don't matter, only the order of those in both.
        old_order, new_order = kept.proposal.below, view.below.order
        is_same_order = [id_ for id_ in old_order if id_ in new_order] == [
            id_ for id_ in new_order if id_ in old_order
        ]
        return is_there and not is_moved and is_same_order
    if change.kind == "added":
        return change.before is ABSENT
    return is_there and fingerprint(change) == kept.row.seen


def _is_position(path: str) -> bool:
    return path.startswith("modules.") and path.split(".")[2:] == ["position"]


def _record(post: Post, layer: Layer, kept: Sequence[StandingRejection], actor: Actor) -> None:
    """Record one event per rejection, as rejecting does."""
    for rejection in dict.fromkeys(one.row.rejection for one in kept):
        group = [one for one in kept if one.row.rejection == rejection]
        paths: list[Json] = [one.row.path for one in group]
        marks = (one.proposal.marks.get(one.row.path) for one in group)
        runs = sorted({mark.run_id for mark in marks if mark is not None} - {""})
        outbox.record(
            f"post.{layer}.reconsider",
            actor=actor,
            post_id=post.pk,
            payload={"paths": paths, "runs": [*runs], "rejection": rejection},
        )


def delete_old_rejections() -> int:
    """Delete old rejections in batches and return their number. Safe to run twice."""
    old = RejectedChange.objects.filter(created_at__lt=timezone.now() - KEPT)
    total = 0
    while ids := list(old.order_by("created_at").values_list("pk", flat=True)[:_AT_ONCE]):
        total += RejectedChange.objects.filter(pk__in=ids).delete()[0]
    return total
