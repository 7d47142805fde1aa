"""The tool that takes back what a client staged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from content import layers
from content.tools.arguments import PostReference, require_post
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Result, tool


class Unstage(Arguments):
    post: PostReference
    paths: Annotated[list[str], Field(min_length=1, max_length=200)]


class UnstagedResult(Result):
    """`unstaged`: the removed paths; `version`: the draft's version."""

    post_id: str
    layer: Literal["ai-review"]
    version: int
    unstaged: list[str]


@tool(
    title="Take back staged changes",
    kind="stage",
    permission="posts.ai-review.save",
    group="posts",
    result=UnstagedResult,
)
def unstage(actor: Actor, arguments: Unstage) -> JsonObject:
    """Remove changes from AI Review that this credential staged, by path. Changes of others are refused."""
    post = require_post(arguments.post, actor)
    try:
        done = layers.unstage(post_id=post.pk, actor=actor, paths=arguments.paths)
    except CmsError as error:
        if error.code == "unknown_path":
            error.message += " get_post_context names the staged paths."
        raise
    return {
        "postId": str(post.pk),
        "layer": "ai-review",
        "version": done.version,
        "unstaged": list(done.paths),
    }
