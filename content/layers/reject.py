"""Reject: take staged changes out of a layer, with a note. Live content does not move."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import Value, apply
from content.layers.rejected_changes import keep_rejected
from content.layers.selection import require_unchanged, select_rest
from content.models import Layer, Post
from content.store.digest import read_digest
from content.store.layer_state import (
    LayerView,
    check_version,
    lock_post,
    open_layers,
    save_draft,
    settle,
    writers_of,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation


def keep_newer_proposals(view: LayerView, post: Post, dropped: Collection[str]) -> None:
    """`view` is Review as it was, `dropped` what has just gone out of it.

    An agent's words that nobody had edited make way for a newer proposal: that they are gone is no change that a
    person must hear of as drift. What a person had written, or edited, still is.
    """
    if view.layer != Layer.REVIEW:
        return
    writers = {path: writers_of(view.marks, path) for path in dropped}
    agents_paths = {
        path for path, marks in writers.items() if marks and all(mark.is_agents for mark in marks)
    }
    ai_review = open_layers(post).ai_review if agents_paths else None
    if ai_review is None or ai_review.draft is None:
        return
    # What had drifted before still does.
    made_way = {
        path
        for path in agents_paths & ai_review.drifted
        if not any(mark.drifted for mark in writers_of(ai_review.marks, path))
    }
    if made_way:
        settled = replace(ai_review, drifted=ai_review.drifted - made_way)
        by = ai_review.draft.updated_by_id
        save_draft(settled, post, ai_review.document, ai_review.marks, by)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The dropped changes; `rejection` is the id of the event, by which they can be taken back."""

    post: Post
    paths: tuple[str, ...]
    rejection: int


@transaction.atomic
def reject(
    *,
    post_id: UUID | str,
    layer: Layer,
    actor: Actor,
    paths: Collection[str] | None = None,
    note: str = "",
    expected_version: int | None = None,
    digest: str | None = None,
    kept: Mapping[str, Value] | None = None,
) -> Rejected:
    """Drop all of a layer, or these paths of it; what was proposed is kept for a while, to be taken back.

    `<path>#<passage>` names a passage; `kept` is what stays of passages at a path, where that was settled before.

    What AI Review holds beside a rejected Review stays there. With a
    `digest`, only what the reviewer saw is dropped, else `Conflict`. Raises `RuleViolation` on unknown paths.
    """
    actor.require_person("reject")
    actor.require("posts.review.approve")
    post = lock_post(post_id, actor)
    layers = open_layers(post)
    view = layers.view(layer)
    check_version(expected_version, view.version, _("This draft"))
    if not view.exists:
        raise RuleViolation(
            _("This post has no changes in %(layer)s.") % {"layer": layer},
            code="nothing_staged",
        )
    if digest is not None:
        require_unchanged(view, read_digest(digest), paths)
    selection = select_rest(view, paths, kept)
    dropped = selection.paths
    after = apply(view.below, selection.rest)
    save_draft(view, post, after, view.marks, actor.user.pk)
    keep_newer_proposals(view, post, dropped)
    settle(post, layers.live)
    event = outbox.record(
        f"post.{layer}.reject",
        actor=actor,
        post_id=post.pk,
        payload={
            "paths": list(dropped),
            "note": note,
            "runs": sorted({view.marks[p].run_id for p in dropped if p in view.marks} - {""}),
        },
    )
    keep_rejected(view, post, selection.taken, after, event.pk)
    return Rejected(post, dropped, event.pk)
