"""Reject: take staged changes out of a layer, with a note. Live content does not move."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.changes import Value, apply
from content.layers.digest import read_digest
from content.layers.dropped_below import keep_newer_proposals
from content.layers.rejected import keep_rejected
from content.layers.reviewed_changes import seen_selection
from content.layers.selection import without
from content.layers.state import check_version, lock_post, open_layers, save_draft, settle
from content.models import Layer, Post
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was dropped; `rejection` is the id of the event, by which it can be taken back."""

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
    post = lock_post(post_id)
    layers = open_layers(post)
    view = layers.view(layer)
    check_version(expected_version, view.version, _("This draft"))
    if not view.exists:
        raise RuleViolation(
            _("Nothing is staged in %(layer)s of this post.") % {"layer": layer},
            code="nothing_staged",
        )
    if digest is not None:
        seen_selection(view, read_digest(digest), paths)
    selection = without(view, paths, kept)
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
