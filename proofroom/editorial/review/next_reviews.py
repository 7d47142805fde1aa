"""The next reviews, so that a reviewer goes on without a way back to the inbox."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, Count, F, IntegerField, Value, When, Window

from content.models import Draft, Layer, Post
from proofroom.editorial.posts.post_pages import review_url
from proofroom.editorial.posts.titles import drafts_with_titles, title_of


@dataclass(frozen=True, slots=True)
class Next:
    """The post to go on with, and how many other layers wait."""

    title: str
    url: str
    layer: str
    total: int


def find_next_review(post: Post, layer: Layer) -> Next | None:
    """The next layer of another post, those of the same kind first, the longest waiting first. One query."""
    waiting = Draft.objects.filter(is_empty=False, post__deleted_at__isnull=True).exclude(post=post)
    elsewhere = Case(
        When(layer=layer, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    row = (
        drafts_with_titles(waiting)
        .annotate(elsewhere=elsewhere, total=Window(Count("*")))
        .select_related("post")
        .defer("base", "document", "marks")
        .order_by("elsewhere", F("updated_at"), "pk")
        .first()
    )
    if row is None:
        return None
    total: int = row.total
    return Next(title_of(row.post, row), review_url(row.post, row.layer), row.layer, total)
