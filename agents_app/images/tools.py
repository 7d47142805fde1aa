"""`generate_image` as a tool."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from agents_app.images.generation import ALT_MAX, PROMPT_MAX, Size
from agents_app.images.generation import generate_image as generate
from content.tools.authorship import present_author, resolve_author
from media.presenters import url_of
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Result, tool


class GenerateImage(Arguments):
    prompt: str = Field(min_length=1, max_length=PROMPT_MAX)
    alt_text: str = Field(min_length=1, max_length=ALT_MAX)
    size: Size = "1024x1024"
    post_id: UUID | None = None
    path: str | None = Field(
        None, max_length=300, description="post.featuredMediaId or modules.<id>.props.<name>"
    )
    agent_id: str | None = Field(None, max_length=80)


class MadePicture(Result):
    media_id: str
    url: str


@tool(
    title="Generate an image",
    kind="stage",
    permission="media.upload",
    group="media",
    result=MadePicture,
    waits=True,
    costs=True,
)
def generate_image(actor: Actor, arguments: GenerateImage) -> JsonObject:
    """Have an image made and kept in the library; search_media first, this costs money. With postId and path it is
    staged there in AI Review."""
    names_author = arguments.post_id is not None or arguments.agent_id is not None
    writer = resolve_author(actor, arguments.agent_id) if names_author else actor
    made = generate(
        prompt=arguments.prompt,
        alt_text=arguments.alt_text,
        size=arguments.size,
        post_id=arguments.post_id,
        path=arguments.path,
        actor=writer,
    )
    answer: JsonObject = {
        "mediaId": str(made.asset.pk),
        "url": url_of(made.asset.file.name),
        "altText": made.asset.alt_text,
    }
    if made.staged is not None:
        answer |= {
            "postId": str(made.staged.post.pk),
            "layer": made.staged.layer.value,
            "version": made.staged.version,
            "staged": list(made.staged.paths),
        }
    return {**answer, **present_author(writer, arguments.agent_id)}
