"""Follows passages of comments through edits and approvals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from content.models import Post
from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.comments.services import follow_edits

_EVENTS: Final = (
    "post.updated",
    "post.approve",
    "post.review.save",
    "post.ai-review.save",
    "post.ai-review.approve",
)


def subscribe_to_edits() -> None:
    """Call once, at start."""
    outbox.subscribe_to_many(_EVENTS, follow, id="comments.passages.follow")


def follow(events: Sequence[Event]) -> None:
    """Find the passages again of the posts that were edited. One query if there are none."""
    ids = {event.post_id for event in events if event.post_id is not None}
    quoting = Comment.objects.filter(post__in=ids, status=CommentStatus.OPEN).exclude(quote="")
    # Most edited posts have no such comment: then the query of a whole post is never built.
    quoted = set(quoting.values_list("post_id", flat=True))
    if not quoted:
        return
    for post in Post.objects.filter(pk__in=quoted, deleted_at__isnull=True):
        follow_edits(post)
