"""What posts are called, for who only has their ids."""

from __future__ import annotations

from collections.abc import Collection

from content.models import Post
from core.actor import Actor


def titles_seen_by(ids: Collection[str], actor: Actor) -> dict[str, str]:
    """Titles by id, of posts that are there, for who may see posts. One query."""
    if not actor.can("posts.view"):
        return {}
    rows = Post.objects.filter(pk__in=ids, deleted_at__isnull=True).values_list("pk", "title")
    return {str(pk): title for pk, title in rows}
