"""Comments that an actor may read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext as _

from content.layers import open_layers
from content.models import Post
from content.store import post_queries
from content.store.layer_state import Layers
from content.store.scopes import can_view
from media.models import Asset
from media.scopes import visible_assets
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom_apps.comments.anchors import Anchor, find_field, locate, text_of
from proofroom_apps.comments.mentions import parse_mentions
from proofroom_apps.comments.models import Comment, CommentStatus


def comment_not_found() -> NotFound:
    return NotFound(_("Comment not found."))


def require_post(post_id: UUID | str, actor: Actor) -> Post:
    """Return the post of a list of comments. Raises `NotFound` unless the actor may view it."""
    actor.require("comments.view")
    actor.require("posts.view")
    return post_queries.require_post(post_id, actor)


def require_asset(asset_id: UUID | str, actor: Actor) -> Asset:
    """Return the file of a list of comments. Raises `NotFound` unless the actor may view it."""
    actor.require("comments.view")
    actor.require("media.view")
    found = find_by_id(visible_assets(Asset.objects.all(), actor), asset_id)
    if found is None:
        raise NotFound(_("No file has the ID %(id)s.") % {"id": str(asset_id)[:80]})
    return found


def require_comment(
    comment_id: UUID | str, actor: Actor, rows: QuerySet[Comment] | None = None
) -> Comment:
    """Return a comment with its post or file. Raises `NotFound` unless the actor may read it."""
    actor.require("comments.view")
    found = Comment.objects.all() if rows is None else rows
    comment = find_by_id(found.select_related("post", "asset", "parent"), comment_id)
    if comment is None or not _is_visible(comment, actor):
        raise comment_not_found()
    return comment


def _is_visible(comment: Comment, actor: Actor) -> bool:
    if comment.post is not None:
        is_kept = comment.post.deleted_at is None
        return is_kept and actor.can("posts.view") and can_view(actor, comment.post)
    seen = visible_assets(Asset.objects.filter(comments=comment), actor)
    return actor.can("media.view") and seen.exists()


def threads_of(subject: Post | Asset, *, status: str = "", path: str = "") -> QuerySet[Comment]:
    """Return the threads about a post or file, newest first, with people and replies."""
    threads = with_thread(Comment.objects.filter(parent=None))
    on = {"post": subject} if isinstance(subject, Post) else {"asset": subject}
    threads = threads.filter(**on).order_by("-created_at", "-id")
    if status:
        threads = threads.filter(status=status)
    return threads.filter(path=path) if path else threads


def open_threads(post_id: UUID) -> QuerySet[Comment]:
    """Return the open threads of a post."""
    return Comment.objects.filter(post=post_id, parent=None, status=CommentStatus.OPEN)


def people_in_threads(threads: QuerySet[Comment]) -> set[int]:
    """Return the ids of who wrote in threads, has to answer them, or is mentioned there. Two queries at most."""
    rows = Comment.objects.filter(
        Q(pk__in=threads.values("pk")) | Q(parent__in=threads.values("pk"))
    )
    people: set[int] = set()
    names: set[str] = set()
    for row in rows.only("author_id", "assignee_id", "body"):
        people |= {id_ for id_ in (row.author_id, row.assignee_id) if id_ is not None}
        names |= {
            name for mention in parse_mentions(row.body) for name in mention.spellings if name
        }
    mentioned = User.objects.filter(username__in=names).values_list("pk", flat=True)
    return people | set(mentioned) if names else people


def module_of(comment: Comment) -> str:
    """Return the id of the module that a thread is about, empty for the post and its fields."""
    kind, _dot, rest = (comment.path or comment.change_path).partition(".")
    return rest.partition(".")[0] if kind == "modules" else ""


def count_open_by_module(post: Post) -> Counter[str]:
    """Return the number of open threads by the id of their module. One query."""
    places = open_threads(post.pk).only("path", "change_path")
    return Counter(id_ for id_ in map(module_of, places) if id_)


def with_thread(rows: QuerySet[Comment]) -> QuerySet[Comment]:
    """Read people and replies with the comments. One more query for the replies."""
    replies = Comment.objects.select_related("author").order_by("created_at", "id")
    return rows.select_related("author", "assignee").prefetch_related(
        Prefetch("replies", queryset=replies)
    )


def anchor_of(comment: Comment) -> Anchor:
    return Anchor(comment.quote, comment.prefix, comment.suffix)


def texts_at(layers: Layers, path: str) -> list[str]:
    """Return the words at a path: live, in Review, and in AI Review, without repetitions."""
    documents = (layers.live, layers.review.document, layers.ai_review.document)
    found = (find_field(document, path) for document in documents)
    return list(dict.fromkeys(text_of(field.value) for field in found if field is not None))


def found_passages(post: Post | None, comments: Iterable[Comment]) -> dict[UUID, Anchor | None]:
    """Return where the passages of comments stand now; None if a passage was removed.

    One query, none for comments without a passage.
    """
    quoting = [comment for comment in comments if comment.quote]
    if not quoting or post is None:
        return {}
    layers = open_layers(post)
    texts: dict[str, Sequence[str]] = {}
    for comment in quoting:
        if comment.path not in texts:
            texts[comment.path] = texts_at(layers, comment.path)
    return {comment.pk: locate(texts[comment.path], anchor_of(comment)) for comment in quoting}
