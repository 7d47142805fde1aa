"""Stage a change in a layer. Live content stays unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import Changes, diff
from content.document.document import PostDocument
from content.layers.edited_proposals import record_edits
from content.models import Layer, Post
from content.rules import check_changes
from content.rules.place_scope import require_place_in_scope
from content.store.layer_state import (
    Attribution,
    before_layer_staged,
    check_version,
    event_payload,
    lock_post,
    mark_of,
    open_layers,
    save_draft,
)
from content.store.scopes import require_written_in_scope
from content.store.translation_status import current_source_hashes
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.hooks import Hook

Edit = Callable[[PostDocument], PostDocument]
edit_made: Hook[[Actor, PostDocument, PostDocument], None] = Hook()
"""Called with the actor and the documents before and after an edit of AI Review, before the rules are checked.

An exception refuses the edit."""


@dataclass(frozen=True, slots=True)
class Staged:
    """The result of a call.

    `paths`: the paths that this call changed. `document`: the current document of the layer. `changes`: all changes
    of the layer. `replaced`: pairs of a path and the author of a staged value that this call overwrote, if it was
    another one.
    """

    post: Post
    layer: Layer
    version: int
    paths: tuple[str, ...]
    document: PostDocument
    changes: Changes
    replaced: tuple[tuple[str, str], ...] = ()


def require_layer(actor: Actor, layer: Layer) -> None:
    """Check that the actor may write the layer: people Review, agents and AI clients AI Review."""
    if layer == Layer.REVIEW:
        actor.require_person("write Review")
        actor.require("posts.review.save")
    elif not actor.can("posts.ai-review.save"):
        # An AI client acts for a person, so the person's permission to edit posts is enough for a proposal.
        actor.require("posts.edit")


@transaction.atomic
def stage(
    *,
    post_id: UUID | str,
    layer: Layer,
    actor: Actor,
    edit: Edit,
    expected_version: int | None = None,
    taken_over: PostDocument | None = None,
    source_hashes: Mapping[str, str] | None = None,
    seed: Edit | None = None,
    reason: str = "",
) -> Staged:
    """Change a layer: `edit` gets its current document, with all staged changes, and returns the new one.

    References of `taken_over`, the source of a copy, may be missing. `source_hashes`: for a translation, hashes of
    its source values by path, by default of the current source. `seed`: the site's initial content of a post
    that the caller created in this transaction, applied before `edit`. `reason`: the explanation by an agent or AI
    client.

    Raises `NotAllowed`, `NotFound`, `RuleViolation`, or `Conflict` (`stale_version`) if `expected_version` is
    outdated.
    """
    require_layer(actor, layer)
    # The scope of a new post depends on what is proposed for it, so it is checked at the end.
    post = lock_post(post_id, actor, is_new=seed is not None)
    actor.require_inside(post.translation_group)
    layers = open_layers(post)
    view = layers.view(layer)
    check_version(expected_version, view.version, _("This draft"))
    seeded = view.document if seed is None else seed(view.document)
    document = edit(seeded)
    require_place_in_scope(
        post=post, before=view.document, after=document, actor=actor, is_live=False
    )
    if layer == Layer.AI_REVIEW:
        edit_made(actor, seeded, document)
    document = check_changes(
        post=post,
        before=view.document,
        after=document,
        actor=actor,
        taken_over=taken_over,
        is_proposal=True,
    )
    own = diff(view.document, document).paths
    if not own:
        return Staged(post, layer, view.version, (), view.document, view.changes)
    marks = dict(view.marks)
    # Without `source_hashes`, a translation counts as made from the current source.
    made_from = source_hashes or current_source_hashes(post)
    for path in own:
        mark = Attribution.of(actor, previous=mark_of(view.marks, path), reason=reason)
        marks[path] = replace(mark, source_hash=made_from.get(path, mark.source_hash))
    changes = diff(view.below, document)
    for path in changes.paths:
        # An edit inside a module that the layer added appears as a change of that whole module.
        if path not in marks and any(changed.startswith(path + ".") for changed in own):
            marks[path] = Attribution.of(actor, reason=reason)
    replaced = tuple(
        (path, author)
        for path in own
        if path in view.changes.paths and (author := _other_author(view.marks.get(path), actor))
    )
    before_layer_staged(view, post, actor, own)
    record_edits(view, post, own, actor)
    draft = save_draft(view, post, document, marks, actor.user.pk)
    outbox.record(
        f"post.{layer}.save",
        actor=actor,
        post_id=post.pk,
        payload={
            **event_payload(post),
            "layer": layer.value,
            "paths": list(own),
            "version": draft.version,
        },
    )
    if post.is_placeholder:
        require_written_in_scope(post, actor)  # the proposal decides its scope
    return Staged(post, layer, draft.version, own, document, changes, replaced)


def _other_author(mark: Attribution | None, actor: Actor) -> str:
    """Return the author of a staged value; empty if the actor wrote it."""
    if mark is None:
        return ""
    if mark.edited_by:
        return mark.edited_by
    own = Attribution.of(actor)
    writers = [(one.user_id, one.agent_id, one.principal) for one in (mark, own)]
    return "" if writers[0] == writers[1] else mark.agent_id or mark.user
