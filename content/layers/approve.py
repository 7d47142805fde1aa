"""Approve changes: a person publishes from Review exactly what they saw."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import apply
from content.document.document import PostDocument
from content.layers.edited_proposals import record_acceptance
from content.layers.live import write_live
from content.layers.selection import Selection, require_unchanged
from content.models import Post, Revision
from content.rules import check_changes
from content.rules.place_scope import require_place_in_scope
from content.rules.publication_gates import before_approval, changes_approved
from content.store.digest import read_digest
from content.store.joint_moves import joint_moves
from content.store.layer_state import (
    Layers,
    lock_post,
    open_layers,
    save_remaining_changes,
    settle,
)
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class Approval:
    """Changes in Review that may go live. `document` is the live content with them."""

    layers: Layers
    selection: Selection
    document: PostDocument


def require_approvable(
    *, post: Post, actor: Actor, digest: str, paths: Collection[str] | None = None
) -> Approval:
    """Return the changes, if the reviewer saw them and they follow the rules. The caller has locked the post."""
    actor.require_session("approve")
    actor.require("posts.review.approve")
    seen = read_digest(digest)
    layers = open_layers(post)
    selection = require_unchanged(layers.review, seen, paths)
    document = apply(layers.live, selection.taken)
    # Before the rules, whose error messages could reveal posts at the new place.
    require_place_in_scope(post=post, before=layers.live, after=document, actor=actor)
    document = check_changes(
        post=post, before=layers.live, after=document, actor=actor, is_handed_on=True
    )
    taken = set(selection.paths)
    before_approval(post, [change for change in layers.review.changes if change.path in taken])
    return Approval(layers, selection, document)


@transaction.atomic
def approve(
    *,
    post_id: UUID | str,
    actor: Actor,
    digest: str,
    paths: Collection[str] | None = None,
    note: str = "",
    live_cause: str = "",
) -> tuple[Post, Revision]:
    """Make all changes in Review live, or only those at `paths` (`<path>`, or `<path>#<passage>` for a passage).

    `digest`: digest of the changes the reviewer saw. Raises `Conflict` (`stale_review`) and writes nothing if live
    content or the draft changed at an approved path since. Other changes stay staged, and the post's status stays
    unchanged. `live_cause`: as in `write_live`.
    """
    # Before the post, so that who may not approve learns nothing about it.
    actor.require_session("approve")
    actor.require("posts.review.approve")
    read_digest(digest)
    post = lock_post(post_id, actor)
    if (moves := joint_moves()) is not None:
        moves.begin(post)
    approval = require_approvable(post=post, actor=actor, digest=digest, paths=paths)
    layers, selection, document = approval.layers, approval.selection, approval.document
    revision = write_live(
        post=post,
        before=layers.live,
        after=document,
        actor=actor,
        reason="approved",
        marks=layers.review.marks,
        note=note,
        causes=("post.review.approve",),
        live_cause=live_cause,
        has_revision=layers.has_revision,
    )
    if revision is None:
        raise RuleViolation(_("None of these changes are left."), code="nothing_staged")
    record_acceptance(layers.review, post, document, selection, actor)
    review, above = layers.review, layers.ai_review.draft
    review_draft = save_remaining_changes(
        review, post, document, selection.rest, review.marks, actor.user.pk, above=[above]
    )
    settle(post, document, [review_draft, above] if above is not None else [review_draft])
    changes_approved(post, layers.live)
    return post, revision
