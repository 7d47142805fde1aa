"""Reject: take staged changes out of a layer, with a note. Live content does not move."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from content.changes import apply
from content.layers.state import check_version, lock_post, open_layers, save_draft
from content.layers.submit import require_paths
from content.models import Layer, Post
from core import events
from core.actor import Actor
from core.errors import RuleViolation


@transaction.atomic
def reject(
    *,
    post_id: UUID | str,
    layer: Layer,
    actor: Actor,
    paths: Collection[str] | None = None,
    note: str = "",
    expected_version: int | None = None,
) -> tuple[Post, tuple[str, ...]]:
    """Drop all of a layer, or these paths of it. Answers what was dropped.

    What AI Review holds beside a rejected Review stays there. Raises `RuleViolation` on unknown paths.
    """
    actor.require_person("reject")
    actor.require("posts.review.approve")
    post = lock_post(post_id)
    view = open_layers(post).view(layer)
    check_version(expected_version, view.version, "This draft")
    if not view.exists:
        raise RuleViolation(f"Nothing is staged in {layer} of this post.", code="nothing_staged")
    dropped = tuple(view.changes.paths if paths is None else require_paths(view, paths))
    rest = view.changes.only([path for path in view.changes.paths if path not in dropped])
    save_draft(view, post, apply(view.below, rest), view.marks, actor.user.pk)
    events.record(
        f"post.{layer}.reject",
        actor=actor,
        post_id=post.pk,
        payload={
            "paths": list(dropped),
            "note": note,
            "runs": sorted({view.marks[p].run_id for p in dropped if p in view.marks} - {""}),
        },
    )
    return post, dropped
