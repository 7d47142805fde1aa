"""Reject changes: remove staged changes from a layer, with a note. Live content stays unchanged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import Value, apply
from content.layers.edited_proposals import record_rejection
from content.layers.rejected_changes import store_rejected_changes
from content.layers.rejected_facts import describe_rejected
from content.layers.selection import require_unchanged, select_rest
from content.models import Layer, Post
from content.store.digest import read_digest
from content.store.layer_state import (
    LayerView,
    check_version,
    find_writers,
    lock_post,
    open_layers,
    save_draft,
    settle,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation


def clear_drift_of_rejection(view: LayerView, post: Post, dropped: Collection[str]) -> None:
    """Remove drift from AI Review that only the rejection caused.

    `view`: Review before the rejection. `dropped`: the paths removed from it.
    """
    if view.layer != Layer.REVIEW:
        return
    # Reviewers need not be warned that an agent's text disappeared below a newer proposal. They must be warned if a
    # person wrote or edited the text.
    writers = {path: find_writers(view.marks, path) for path in dropped}
    agents_paths = {
        path for path, marks in writers.items() if marks and all(mark.is_agents for mark in marks)
    }
    ai_review = open_layers(post).ai_review if agents_paths else None
    if ai_review is None or ai_review.draft is None:
        return
    # Drift from before the rejection stays.
    not_drifted = {
        path
        for path in agents_paths & ai_review.drifted
        if not any(mark.drifted for mark in find_writers(ai_review.marks, path))
    }
    if not_drifted:
        settled = replace(ai_review, drifted=ai_review.drifted - not_drifted)
        by = ai_review.draft.updated_by_id
        save_draft(settled, post, ai_review.document, ai_review.marks, by)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The removed changes. `rejection`: id of the event; `undo_rejections` restores the changes by it."""

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
    """Remove all changes of a layer, or only those at `paths`. They are stored for a while and can be restored.

    `<path>#<passage>` names a passage. `kept`: remaining values of passages by path, if computed before. AI Review
    stays unchanged when Review is rejected. With a `digest`, raises `Conflict` if the changes differ from what the
    reviewer saw. Raises `RuleViolation` on unknown paths.
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
    clear_drift_of_rejection(view, post, dropped)
    # AI Review may now contain values that equal the layer below.
    settle(post, layers.live)
    event = outbox.record(
        f"post.{layer}.reject",
        actor=actor,
        post_id=post.pk,
        payload={
            "paths": list(dropped),
            "note": note,
            "runs": sorted({view.marks[p].run_id for p in dropped if p in view.marks} - {""}),
            "proposals": describe_rejected(selection.taken, view.marks, layers.live.locale),
        },
    )
    store_rejected_changes(view, post, selection.taken, after, event.pk)
    record_rejection(view, post, selection, event.pk, actor)
    return Rejected(post, dropped, event.pk)
