"""Setup of redirect tests."""

from __future__ import annotations

from typing import Any

from content.models import Post
from content.posts.create import create_post
from seo.models import Redirect
from tests import make


def leads() -> dict[str, str]:
    """Return the target of each redirect."""
    return {row.from_path: row.to_path for row in Redirect.objects.all()}


def edit(post: Post, **patch: Any) -> Post:
    return make.edited(post, patch)


def page(title: str, slug: str, status: str = "published", **fields: Any) -> Post:
    return create_post(
        actor=make.actor("admin"),
        type="page",
        fields={"title": title, "slug": slug, **fields},
        status=status,
    )
