"""Search follows a change of many posts: some of them at once, the others in tasks after the commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from content.models import PostModule
from content.search import posts
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.models import Event

STALE: Final = "search.stale"
POSTS_PER_TASK: Final = 100
"""Posts whose words are kept anew while somebody waits, and posts that one event names."""


def keep_words(post_ids: Sequence[UUID], actor: Actor) -> None:
    """Keep the words of posts anew, inside the transaction of their change."""
    posts.reindex(post_ids[:POSTS_PER_TASK])
    later = post_ids[POSTS_PER_TASK:]
    parts = (
        later[begin : begin + POSTS_PER_TASK] for begin in range(0, len(later), POSTS_PER_TASK)
    )
    things: list[tuple[None, JsonObject]] = [
        (None, {"postIds": [str(id_) for id_ in part]}) for part in parts
    ]
    outbox.record_all(STALE, things, actor=actor)


def keep_words_of_global(instance_id: UUID, actor: Actor) -> None:
    """The words of a global module are those of every post that places it live."""
    rows = PostModule.objects.filter(instance_id=instance_id).order_by("post_id")
    keep_words(list(rows.values_list("post_id", flat=True).distinct()), actor)


def follow(event: Event) -> None:
    """Keep the words of the posts that the event names anew."""
    posts.reindex([UUID(id_) for id_ in event.payload["postIds"]])
