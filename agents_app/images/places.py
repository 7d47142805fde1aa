"""The place in a post that a picture is made for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from agents_app.runs.fields import FieldTarget, find_field
from content.document import PostDocument
from content.layers import open_layers
from content.queries import reachable_posts
from core.actor import Actor
from core.errors import NotFound, RuleViolation, invalid

_WHERE = "post.featuredMediaId, or modules.<postModuleId>.props.<name> with a prop of type media"


@dataclass(frozen=True, slots=True)
class PictureField:
    """A picture field of a post, as AI Review has it."""

    post_id: UUID
    field: FieldTarget

    def edit(self, media_id: str) -> Callable[[PostDocument], PostDocument]:
        """The edit that puts the picture there."""
        return self.field.edit(media_id)


def find_place(*, post_id: UUID, path: str, actor: Actor) -> PictureField:
    """The picture field that a path names. Raises `NotFound`, `NotAllowed`, or `RuleViolation` on `path`."""
    post = reachable_posts().filter(pk=post_id).first()
    if post is None:
        raise NotFound(f"No post has the id {post_id}. Call list_posts to find the id.")
    actor.require_inside(post.translation_group)
    document = open_layers(post).ai_review.document
    field = _field(document, path)
    if field.field_type != "media":
        raise invalid("path", f"{path} takes no picture; a path is {_WHERE}.")
    return PictureField(post_id, field)


def _field(document: PostDocument, path: str) -> FieldTarget:
    try:
        if not path.startswith("modules."):
            return find_field(document, path)
        _, module_id, part, name = [*path.split(".", 3), "", "", ""][:4]
        module = document.module(module_id.lower())
        if module is None:
            raise invalid("path", f"This post has no module {module_id} in AI Review.")
        if part not in ("props", "overrides") or not name:
            raise invalid("path", f"{path} is no path; one is {_WHERE}.")
        return find_field(document, f"module.{module.type}.{name}", module.id)
    except RuleViolation as error:
        raise invalid("path", error.message) from None
