"""Restage: stage approved changes in Review again, after their approval was undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db import transaction

from content.document.changes import apply, diff
from content.document.differences import base_path
from content.document.document import PostDocument
from content.document.labels import label_of, module_names
from content.models import Draft, Layer, Post
from content.store.layer_state import (
    Marks,
    lock_post,
    open_layers,
    paths_overlap,
    read_marks,
    save_draft,
)
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject


def marks_to_restage(post_id: UUID, paths: Sequence[str]) -> JsonObject:
    """Return the authors of changes in Review that are approved now, for `restage`. One query."""
    rows = Draft.objects.filter(post=post_id, layer=Layer.REVIEW).values_list("marks", flat=True)
    own = {base_path(path) for path in paths}
    marks: JsonObject = rows.first() or {}
    return {
        path: mark for path, mark in marks.items() if any(paths_overlap(path, one) for one in own)
    }


@transaction.atomic
def restage(
    *, post: Post, revision_id: UUID | str, marks: Mapping[str, Mapping[str, Json]], actor: Actor
) -> str:
    """Stage the changes of an approval in Review again, where nothing else waits. The live content is as before it.

    `revision_id`: the revision of the approval. `marks`: what `marks_to_restage` returned. Returns the labels of the
    changes that could not be staged, in one line; empty if all wait again.
    """
    post = lock_post(post.pk, actor)
    layers = open_layers(post)
    revision = post.revisions.get(pk=revision_id)
    approved = PostDocument.from_json(revision.document)
    wanted = diff(layers.live, approved)
    # A value that waits in Review as it was approved is not lost.
    differing = set(diff(layers.review.document, approved).paths)
    staged = layers.review.changes.paths
    taken = {
        path
        for path in wanted.paths
        if path in differing and any(paths_overlap(path, other) for other in staged)
    }
    free = [path for path in wanted.paths if path in differing and path not in taken]
    if free:
        document = apply(layers.review.document, wanted.only(free))
        own: Marks = {
            path: mark
            for path, mark in read_marks(marks).items()
            if any(paths_overlap(path, one) for one in free)
        }
        save_draft(layers.review, post, document, {**layers.review.marks, **own}, actor.user.pk)
    names = module_names(approved, layers.live)
    return ", ".join(label_of(path, approved, names) for path in wanted.paths if path in taken)
