"""Live content as it would be after a change, for trial writes: rows without rules, revisions and events."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.utils.translation import gettext as _

from content.document.changes import apply, diff
from content.layers.selection import require_unchanged
from content.models import Post, Status
from content.paths.tree_changes import move_descendants
from content.store import post_repository, search
from content.store.content_links import update_live_links
from content.store.digest import read_digest
from content.store.field_values import update_field_values
from content.store.layer_state import open_layers
from content.store.media_usage import update_live_references
from content.store.post_paths import path_for, set_path
from proofroom.core.database.inserts import insert_rows
from proofroom.core.database.trial_writes import in_trial
from proofroom.core.errors import RuleViolation


def show_approved(post: Post, *, digest: str, paths: Collection[str] | None) -> None:
    """Write changes of Review over the live content of a post, as their approval would.

    Raises `Conflict` if they are not what was seen. Only for trial writes.
    """
    _require_trial()
    layers = open_layers(post)
    before = layers.live
    after = apply(before, require_unchanged(layers.review, read_digest(digest), paths).taken)
    changes = diff(before, after)
    post_repository.save(post, before, after, changes)
    may_move = not {"post.slug", "post.parentId"}.isdisjoint(changes.paths)
    moves = set_path(post, path_for(post)) if may_move else []
    post.is_placeholder = post.is_placeholder and "post.title" not in changes.paths
    post.version += 1
    post.save(force_update=True)
    rewrites = [(post, before, after)]
    update_live_references(rewrites)
    update_live_links(rewrites)
    update_field_values(rewrites)
    post_repository.update_author_rows(rewrites)
    insert_rows(updates=search.words_of_post(post, after))
    if moves:
        move_descendants(post)


def show_published(post: Post, *, at: datetime) -> None:
    """Write a draft as published at a time. Raises `RuleViolation` for one without approved content.

    Only for trial writes.
    """
    _require_trial()
    if post.is_placeholder:
        message = _("This post was created by an agent. Approve its content first.")
        raise RuleViolation(message, code="not_approved")
    post.status = Status.PUBLISHED
    post.version += 1
    post.publish_at = None
    if post.published_at is None:
        post.published_at = at
        # The path may contain the day.
        set_path(post, path_for(post))
    post.save(force_update=True)


def _require_trial() -> None:
    if not in_trial():
        raise RuntimeError(
            "live content is written here without rules, which only trial writes may do"
        )
