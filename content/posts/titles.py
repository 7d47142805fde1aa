"""What posts are called, for who only has their ids."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models.fields.json import KT

from content.models import Draft, Post
from proofroom.core.actor import Actor


def titles_seen_by(ids: Collection[str], actor: Actor) -> dict[str, str]:
    """Titles by id, of posts that are there, for who may see posts. One query."""
    if not actor.can("posts.view"):
        return {}
    rows = Post.objects.filter(pk__in=ids, deleted_at__isnull=True).values_list("pk", "title")
    return {str(pk): title for pk, title in rows}


def proposed_titles(ids: Collection[UUID]) -> dict[UUID, str]:
    """Titles that wait for approval, of posts whose live title is a placeholder. One query, none for no ids."""
    if not ids:
        return {}
    drafts = Draft.objects.filter(post__in=ids, post__is_placeholder=True, is_empty=False)
    # What AI Review proposes stands on top of Review.
    rows = drafts.order_by("-layer").values_list("post_id", KT("document__post__title"))
    return {post_id: title for post_id, title in rows if title}
