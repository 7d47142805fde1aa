"""A post with clicks: mostly on its button, some on its questions, and a few on its text."""

from __future__ import annotations

from random import Random

from content.document.document import PostDocument
from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from tests import make
from tests.analytics.heat_cells import cell
from tests.browser.scene import BEFORE


def clicked() -> Post:
    post = make.post(
        "Coffee without a scale", markdown=BEFORE, excerpt="Three minutes, one good cup."
    )

    def add(document: PostDocument) -> PostDocument:
        props = {"title": "No scale?", "ctaLabel": "Brew by the spoon", "ctaUrl": "#main"}
        return document_edits.add_module(document, type="callout", props=props, index=1)[0]

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=add)
    post.refresh_from_db()
    _spread(post, "callout", 150, (0.2, 0.7), (0.05, 0.04))
    _spread(post, "prose", 90, (0.5, 0.45), (0.25, 0.2))
    _spread(post, "hero", 40, (0.3, 0.5), (0.08, 0.2))
    draw = Random(4)  # noqa: S311  # a picture
    for _ in range(30):
        cell(post, x=draw.gauss(887, 8), y=draw.gauss(29, 3))
    return post


def _spread(
    post: Post, module: str, clicks: int, middle: tuple[float, float], reach: tuple[float, float]
) -> None:
    draw, id_ = Random(module), make.module_id(post, module)  # noqa: S311  # a picture
    for _ in range(clicks):
        x, y = (
            min(1.0, max(0.0, draw.gauss(mean, wide)))
            for mean, wide in zip(middle, reach, strict=True)
        )
        cell(post, id_, x=x, y=y)
