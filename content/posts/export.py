"""Exports: a post leaves the site as canonical JSON, which is recorded."""

from __future__ import annotations

from content import presenters
from content.layers import open_layers
from content.models import Post
from content.posts import queries
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject


def export_post(*, post: Post, actor: Actor) -> JsonObject:
    """The live post, without anything staged."""
    actor.require("posts.view")
    document = open_layers(post).live
    payload: JsonObject = {"id": str(post.pk), "locale": post.locale}
    outbox.record("post.exported", actor=actor, post_id=post.pk, payload=payload)
    return presenters.canonical(post, document, queries.translations_of(post))
