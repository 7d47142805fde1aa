"""Submit changes from AI Review to Review. Values staged by a person are never overwritten."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import Change, Changes, MergeConflict, apply, same, value_at
from content.document.differences import base_path
from content.layers.selection import select_changes
from content.models import Post
from content.rules import check_changes
from content.store.layer_state import (
    Attribution,
    Layers,
    LayerView,
    clean_reason,
    event_payload,
    find_writers,
    lock_post,
    mark_of,
    open_layers,
    parts_of,
    paths_overlap,
    save_draft,
    save_remaining_changes,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class SubmitOutcome:
    """`submitted`: paths moved to Review.

    `conflicts`: paths left in AI Review, with the value a person staged instead.
    """

    post: Post
    submitted: tuple[str, ...]
    conflicts: tuple[MergeConflict, ...]
    review_version: int


@transaction.atomic
def submit(
    *,
    post_id: UUID | str,
    actor: Actor,
    paths: Collection[str] | None = None,
    overwrite: Collection[str] = (),
    note: str = "",
) -> SubmitOutcome:
    """Move all changes of AI Review, or these paths, to Review.

    A path that a person staged differently in Review is a conflict: it stays in AI Review with a flag, unless a
    person names it in `overwrite`. Raises `RuleViolation` on unknown paths, or if nothing is staged.
    """
    actor.require("posts.ai-review.approve")
    if overwrite:
        actor.require_person("overwrite what a person staged")
    post = lock_post(post_id, actor)
    actor.require_inside(post.translation_group)
    layers = open_layers(post)
    if not layers.ai_review.exists:
        message = _("This post has no changes in AI Review.")
        raise RuleViolation(message, code="nothing_staged")
    selection = select_changes(layers.ai_review, paths)
    chosen = selection.taken
    conflicts = {
        change.path: MergeConflict(
            change.path,
            value_at(layers.live, change.path),
            value_at(layers.review.document, change.path),
            change.after,
        )
        for change in chosen
        if change.path not in map(base_path, overwrite) and _person_staged(layers.review, change)
    }
    moved = chosen.only([path for path in chosen.paths if path not in conflicts])
    version = _write_review(layers, moved, actor, note) if len(moved) else layers.review.version
    if conflicts or len(moved):
        # Changes that were not selected and all conflicts stay in AI Review.
        left = {change.path: change for change in selection.rest}
        left |= {
            change.path: change for change in layers.ai_review.changes if change.path in conflicts
        }
        order = [change.path for change in layers.ai_review.changes if change.path in left]
        rest = replace(layers.ai_review.changes, items=tuple(left[path] for path in order))
        marks = dict(layers.ai_review.marks)
        for path in conflicts:
            marks[path] = replace(mark_of(marks, path) or Attribution.of(actor), conflict=True)
        review = open_layers(post).review.document
        save_remaining_changes(layers.ai_review, post, review, rest, marks, actor.user.pk)
    if len(moved):
        outbox.record(
            "post.ai-review.approve",
            actor=actor,
            post_id=post.pk,
            payload={
                **event_payload(post),
                "paths": list(moved.paths),
                "note": note,
                "version": version,
            },
        )
    return SubmitOutcome(post, moved.paths, tuple(conflicts.values()), version)


def _person_staged(review: LayerView, change: Change) -> bool:
    """Return whether a person wrote or edited the value in Review at the path, its parent or a part of it."""
    if same(value_at(review.document, change.path), change.after):
        return False
    if not any(paths_overlap(other.path, change.path) for other in review.changes):
        return False
    marks = find_writers(review.marks, change.path)
    return not marks or any(not mark.is_agents for mark in marks)


def _write_review(layers: Layers, changes: Changes, actor: Actor, note: str) -> int:
    review = layers.review
    document = apply(review.document, changes)
    # The values passed the rules when they were staged. The rules or the site may have changed since.
    document = check_changes(
        post=layers.post,
        before=review.document,
        after=document,
        actor=actor,
        is_handed_on=True,
        is_proposal=True,
    )
    marks = dict(review.marks)
    for path in changes.paths:
        mark = mark_of(layers.ai_review.marks, path)
        if mark is not None:
            drifted = path in layers.ai_review.drifted and not same(
                value_at(layers.live, path), value_at(document, path)
            )
            reason = mark.reason or ("" if actor.is_person else clean_reason(note))
            marks[path] = replace(
                mark, conflict=False, drifted=drifted, note=note or mark.note, reason=reason
            )
        marks |= parts_of(layers.ai_review.marks, path)
    return save_draft(review, layers.post, document, marks, actor.user.pk).version
