"""The tool that reads the taxonomy terms of a post."""

from __future__ import annotations

from typing import Literal

from content.layers import open_layers
from content.models import Layer
from content.tools.arguments import OnPost, require_post
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.tools import Result, tool


class TermIds(Result):
    post_id: str
    layer: Literal["source", "review", "ai-review"]
    ids: list[str]


class TermsOfPost(OnPost):
    layer: Literal["source", "review", "ai-review"] = "ai-review"


@tool(
    title="Terms of a post",
    kind="read",
    permission="posts.view",
    group="taxonomies",
    result=TermIds,
)
def get_post_taxonomy_term_ids(actor: Actor, arguments: TermsOfPost) -> JsonObject:
    """The ids of a post's taxonomy terms, as one layer has them."""
    post = require_post(arguments.post_id, actor)
    layer = None if arguments.layer == "source" else Layer(arguments.layer)
    document = open_layers(post).document(layer)
    return {
        "postId": str(post.pk),
        "layer": arguments.layer,
        "ids": list(document.taxonomy_term_ids),
    }
