"""Permissions to hear, on an open page, of what happens to a post."""

from __future__ import annotations

from collections.abc import Sequence

from content.models import Post
from proofroom.core.actor import ActorUser
from proofroom.core.realtime import EventMessage, MayHear


def post_visibility_rule(events: Sequence[EventMessage]) -> MayHear:
    """Of posts in the trash, and of those that are gone, only who may see the trash. One query."""
    ids = {event.post_id for event in events if event.post_id is not None}
    visible = set(
        Post.objects.filter(pk__in=ids, deleted_at__isnull=True).values_list("pk", flat=True)
    )

    def may_hear(person: ActorUser, event: EventMessage) -> bool:
        return event.post_id is None or event.post_id in visible or person.has_perm("posts.restore")

    return may_hear
