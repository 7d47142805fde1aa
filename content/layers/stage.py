"""Stage: propose a change in a layer. Live content does not move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import diff
from content.document.document import PostDocument
from content.models import Layer, Post
from content.rules import check_changes
from content.rules.place_scope import require_place_in_scope
from content.store.layer_state import (
    Mark,
    before_layer_staged,
    check_version,
    event_payload,
    lock_post,
    mark_of,
    open_layers,
    save_draft,
)
from content.store.scopes import require_written_in_scope
from content.store.translation_status import present_source_hashes
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.hooks import Hook

Edit = Callable[[PostDocument], PostDocument]
edit_made: Hook[[Actor, PostDocument, PostDocument], None] = Hook()
"""Called with what an edit of AI Review makes of a document, before the rules judge it. What is raised refuses it."""


@dataclass(frozen=True, slots=True)
class Staged:
    """`paths` are what this call changed; `document` is the layer as it stands now."""

    post: Post
    layer: Layer
    version: int
    paths: tuple[str, ...]
    document: PostDocument


def require_layer(actor: Actor, layer: Layer) -> None:
    """Who may write a layer: people Review, agents and AI clients AI Review."""
    if layer == Layer.REVIEW:
        actor.require_person("write Review")
        actor.require("posts.review.save")
    elif not actor.can("posts.ai-review.save"):
        # An AI client acts for a person here: whoever may edit posts may have changes proposed.
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
    """Change a layer: `edit` gets its present document and returns the one it should be.

    What earlier calls staged is what `edit` is given, so nothing of it is lost. What `taken_over`, the source of a
    copy, refers to may be gone. `source_hashes` are those of the source's values, by path, that a translation was
    made from; without any it counts as made from the source as it stands. `seed` is what the site itself puts
    into a post that the caller made in this transaction, before `edit`: where such a post belongs is known only once
    something is proposed. `reason` is what an agent or an AI
    client says of the change. Raises `NotAllowed`, `NotFound`,
    `RuleViolation`, or `Conflict` (`stale_version`) where `expected_version` is not the layer's version.
    """
    require_layer(actor, layer)
    post = lock_post(post_id, actor, is_new=seed is not None)
    actor.require_inside(post.translation_group)
    layers = open_layers(post)
    view = layers.view(layer)
    check_version(expected_version, view.version, _("This draft"))
    begun = view.document if seed is None else seed(view.document)
    document = edit(begun)
    require_place_in_scope(
        post=post, before=view.document, after=document, actor=actor, is_live=False
    )
    if layer == Layer.AI_REVIEW:
        edit_made(actor, begun, document)
    document = check_changes(
        post=post, before=view.document, after=document, actor=actor, taken_over=taken_over
    )
    own = diff(view.document, document).paths
    if not own:
        return Staged(post, layer, view.version, (), view.document)
    marks = dict(view.marks)
    # Whoever writes a translation without its source beside it writes it from the source as it stands.
    made_from = source_hashes or present_source_hashes(post)
    for path in own:
        mark = Mark.of(actor, previous=mark_of(view.marks, path), reason=reason)
        marks[path] = replace(mark, source_hash=made_from.get(path, mark.source_hash))
    for path in diff(view.below, document).paths:
        # A part of a module that the layer itself added shows as that module.
        if path not in marks and any(changed.startswith(path + ".") for changed in own):
            marks[path] = Mark.of(actor, reason=reason)
    before_layer_staged(view, post, actor, own)
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
        require_written_in_scope(post, actor)  # what is proposed says where it belongs
    return Staged(post, layer, draft.version, own, document)
