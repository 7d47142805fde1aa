"""The users who may receive events about a post over the admin's websocket, and who has the post open."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from content.models import Post
from content.posts.presence import list_open_editors
from content.store.scopes import visible_to
from proofroom.core.actor import ActorUser
from proofroom.core.content_scope import ContentScope, Scoped, reading_scopes
from proofroom.core.realtime import EventMessage, IsOutside, MayHear, OpenEditor


class PostTableAudience:
    def visibility_of(self, events: Sequence[EventMessage]) -> MayHear:
        """Return a function that tests whether a user may receive an event. One query.

        Events about posts in the trash and purged posts are for users who may restore posts."""
        ids = {event.post_id for event in events if event.post_id is not None}
        visible = set(
            Post.objects.filter(pk__in=ids, deleted_at__isnull=True).values_list("pk", flat=True)
        )

        def may_hear(person: ActorUser, event: EventMessage) -> bool:
            return (
                event.post_id is None
                or event.post_id in visible
                or person.has_perm("posts.restore")
            )

        return may_hear

    def scopes_of(self, post_ids: Collection[UUID], people: Collection[Scoped]) -> IsOutside:
        """Return a function that tests whether a post is outside of a user's current scopes.

        A purged post is outside of every scope. One query per set of scopes."""
        named = Post.objects.filter(pk__in=post_ids)
        inside: dict[tuple[ContentScope, ...], set[UUID]] = {}
        for person in people:
            scopes = tuple(reading_scopes(person))
            if scopes not in inside:
                inside[scopes] = set(visible_to(named, person).values_list("pk", flat=True))

        def is_outside(person: Scoped, post_id: UUID) -> bool:
            scopes = tuple(reading_scopes(person))
            return bool(scopes) and post_id not in inside.get(scopes, ())

        return is_outside

    def list_open_editors(self, post_ids: Collection[UUID]) -> dict[UUID, list[OpenEditor]]:
        return list_open_editors(post_ids)
