"""Titles of posts in the admin: one that nobody approved yet has the title that is proposed for it."""

from __future__ import annotations

from typing import Final

from django.db.models import Case, OuterRef, QuerySet, Subquery, TextField, When
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from content.layers import Layers
from content.models import Draft, Post, QueuedChange

_STAGED: Final = Cast(KT("document__post__title"), TextField())


def with_proposed_titles(posts: QuerySet[Post]) -> QuerySet[Post]:
    """The posts with `proposed_title`, null but for placeholders; AI Review's where both layers hold one."""
    drafts = Draft.objects.filter(post=OuterRef("pk"), is_empty=False).order_by("layer")
    staged = Subquery(drafts.values(title=_STAGED)[:1])
    return posts.annotate(proposed_title=Case(When(is_placeholder=True, then=staged)))


def drafts_with_titles(drafts: QuerySet[Draft]) -> QuerySet[Draft]:
    """The drafts with `proposed_title`, null but for those of placeholders."""
    return drafts.annotate(proposed_title=Case(When(post__is_placeholder=True, then=_STAGED)))


def title_of(post: Post, row: Post | Draft | QueuedChange | None = None) -> str:
    """The title to show, from a row of one of the two above."""
    return str(getattr(row or post, "proposed_title", None) or post.title)


def title_in(post: Post, layers: Layers) -> str:
    """The title to show on the pages of a post."""
    proposed = layers.ai_review.document.fields.get("title") if post.is_placeholder else None
    return str(proposed or post.title)
