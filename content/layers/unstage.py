"""Take back proposals: remove staged changes from AI Review on behalf of the credential that staged them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import apply
from content.document.differences import base_path
from content.layers.selection import select_rest
from content.layers.stage import require_layer
from content.models import Layer, Post
from content.store.layer_state import (
    Attribution,
    event_payload,
    find_writers,
    lock_post,
    open_layers,
    save_draft,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation


@dataclass(frozen=True, slots=True)
class Unstaged:
    """`paths`: the removed changes. `version`: the version of the draft now."""

    post: Post
    paths: tuple[str, ...]
    version: int


@transaction.atomic
def unstage(*, post_id: UUID | str, actor: Actor, paths: Collection[str]) -> Unstaged:
    """Remove changes from AI Review that the actor's credential, or the same run, staged.

    The content of the layer below is proposed again. Raises `RuleViolation` on unknown paths, and `NotAllowed`
    (`staged_by_others`) with nothing removed if another author staged or edited one of them.
    """
    require_layer(actor, Layer.AI_REVIEW)
    post = lock_post(post_id, actor)
    actor.require_inside(post.translation_group)
    view = open_layers(post).ai_review
    if not view.exists:
        message = _("This post has no changes in AI Review.")
        raise RuleViolation(message, code="nothing_staged")
    selection = select_rest(view, paths)
    foreign: dict[str, list[str]] = {}
    for path in dict.fromkeys(map(base_path, paths)):
        writers = find_writers(view.marks, path)
        others = [mark for mark in writers if not _is_own(mark, actor)]
        if others or not writers:
            name = others[0].edited_by or others[0].agent_id or others[0].user if others else ""
            message = _("%(path)s was staged by %(author)s; only the author can take it back.") % {
                "path": path,
                "author": name or _("another author"),
            }
            foreign[path] = [message]
    if foreign:
        message = next(iter(foreign.values()))[0]
        raise NotAllowed(message, code="staged_by_others", details=foreign)
    document = apply(view.below, selection.rest)
    draft = save_draft(view, post, document, view.marks, actor.user.pk)
    outbox.record(
        "post.ai-review.withdraw",
        actor=actor,
        post_id=post.pk,
        payload={
            **event_payload(post),
            "layer": Layer.AI_REVIEW.value,
            "paths": list(selection.paths),
        },
    )
    return Unstaged(post, selection.paths, draft.version)


def _is_own(mark: Attribution, actor: Actor) -> bool:
    """Return whether the actor's run, or else its credential, wrote the value and no person edited it since."""
    own = Attribution.of(actor)
    if mark.edited_by or (mark.run_id, mark.via) != (own.run_id, own.via):
        return False
    if own.run_id:
        return True
    # A credential may write in the name of several agents. Without one, the account counts.
    return mark.principal == own.principal and (bool(own.principal) or mark.user_id == own.user_id)
