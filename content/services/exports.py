"""Exports: a post leaves the site as canonical JSON, which is recorded."""

from __future__ import annotations

from content import presenters, queries
from content.layers import open_layers
from content.models import Post
from core import events
from core.actor import Actor
from core.json import JsonObject


def export_post(*, post: Post, actor: Actor) -> JsonObject:
    """The live post, without anything staged."""
    actor.require("posts.view")
    document = open_layers(post).live
    payload: JsonObject = {"id": str(post.pk), "locale": post.locale}
    events.record("post.exported", actor=actor, post_id=post.pk, payload=payload)
    return presenters.canonical(post, document, queries.translations_of(post))
