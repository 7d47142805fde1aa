"""The posts that a run's tools created or changed, beside the post it ran on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from agents_app.models import AgentRun
from content.models import Layer, Post
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import actor_of
from proofroom_apps.editorial.posts.post_pages import (
    post_url,
    review_url,
    title_of,
    with_proposed_titles,
)


@dataclass(frozen=True, slots=True)
class ResultingPost:
    """A post with the run's proposals. `is_new`: the run created it; it is public after an approval only."""

    title: str
    url: str
    review_url: str
    changes: int
    is_new: bool
    is_deleted: bool


def resulting_posts(request: HttpRequest, run: AgentRun) -> Sequence[ResultingPost]:
    """Return the posts in which the user can see what the run did, created ones first. Two queries."""
    rows = list(run.posts.exclude(post=run.post_id).order_by("-is_made", "pk"))
    if not rows:
        return ()
    seen = visible_to(Post.objects.all(), actor_of(request))
    posts = with_proposed_titles(seen).in_bulk([row.post_id for row in rows])
    return [
        ResultingPost(
            title=title_of(post),
            url=post_url("change", post),
            review_url=f"{review_url(post, Layer.AI_REVIEW)}&run={run.pk}",
            changes=len(row.paths),
            is_new=row.is_made,
            is_deleted=post.deleted_at is not None,
        )
        for row in rows
        if (post := posts.get(row.post_id)) is not None
    ]
