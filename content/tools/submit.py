"""Submitting AI Review to Review."""

from __future__ import annotations

from typing import cast

from pydantic import Field

from content import layers, presenters
from content.tools.arguments import Staging
from content.tools.authorship import present_author, resolve_author
from content.tools.read_post import require_post
from content.tools.results import SubmittedResult
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import tool


class Submit(Staging):
    note: str = Field("", max_length=2000)


@tool(
    title="Submit to Review",
    kind="stage",
    permission="posts.ai-review.approve",
    arguments=Submit,
    group="posts",
    result=SubmittedResult,
)
def submit_ai_review_to_review(actor: Actor, arguments: Submit) -> JsonObject:
    """Hand what is staged in AI Review to people, who approve.
    What a person staged differently stays behind as a conflict."""
    writer = resolve_author(actor, arguments.agent_id)
    require_post(arguments.post_id)
    done = layers.submit(post_id=arguments.post_id, actor=writer, note=arguments.note)
    wire = presenters.present_submitted(done)
    return {
        "postId": str(done.post.pk),
        "layer": "review",
        "submitted": wire["submitted"],
        "conflicts": cast("list[Json]", wire["conflicts"]),
        **present_author(writer, arguments.agent_id),
    }
