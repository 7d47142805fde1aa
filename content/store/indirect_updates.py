"""Events for posts that another change affected: `post.updated` for each post with changed content or path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db import transaction

from content.models import ContentMigration, Post, PostModule
from content.store.layer_state import event_payload
from proofroom.accounts.models import User
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.batches import batches
from proofroom.core.models import Event

CAUSES: Final = ("content.changed", "content.migrated")
"""Names of events that can change the live content of posts without naming the posts."""
_UPDATED: Final = "post.updated"
_BATCH_SIZE: Final = 200
"""Number of posts per transaction of the worker."""


def record_indirect_updates(changed: Mapping[Post, Sequence[str]], actor: Actor) -> None:
    """Record `post.updated` with the changed paths of each post. The caller recorded the cause."""
    things = [
        (post.pk, {**event_payload(post), "changedPaths": list(paths)})
        for post, paths in changed.items()
    ]
    # No cache tags: the event of the cause already invalidated the cached responses.
    outbox.record_all(_UPDATED, things, actor=actor, tags=())


def follow_cause(event: Event) -> None:
    """Record `post.updated` for the posts whose live content the event changed. Idempotent."""
    changed = _paths_changed_by(event)
    if not changed:
        return
    user = User.objects.filter(pk=event.actor_id).first() if event.actor_id is not None else None
    actor = Actor(
        # The account may be deleted by now.
        user=user or SYSTEM,
        via=event.via,  # type: ignore[arg-type]  # stored from an actor's `via`
        agent_id=event.agent_id or None,
        run_id=event.run_id or None,
        event_id=event.pk,
        hop=event.hop,
    )
    # Batches keep transactions short. A retry skips the posts whose event an earlier attempt recorded.
    for part in batches(sorted(changed), _BATCH_SIZE):
        with transaction.atomic():
            known = Event.objects.filter(name=_UPDATED, cause_id=event.pk, post_id__in=part)
            done = set(known.values_list("post_id", flat=True))
            posts = Post.objects.filter(pk__in=part, deleted_at__isnull=True).order_by("pk")
            record_indirect_updates(
                {post: changed[post.pk] for post in posts if post.pk not in done}, actor
            )


def _paths_changed_by(event: Event) -> Mapping[UUID, Sequence[str]]:
    """Return the changed paths by post id."""
    if event.name == "content.migrated":
        migration = ContentMigration.objects.filter(pk=event.payload.get("migration")).first()
        return {UUID(id_): () for id_ in migration.post_ids} if migration else {}
    # Of shared content, only global modules are part of the content of posts.
    if event.payload.get("what") != "global-module":
        return {}
    return _paths_of_placements(UUID(str(event.payload["id"])), event.payload.get("changed", ()))


def _paths_of_placements(module_id: UUID, names: Iterable[str]) -> Mapping[UUID, Sequence[str]]:
    """Return the paths of these props, by post that places the module and does not override them."""
    names = list(names)
    if not names:
        return {}
    rows = PostModule.objects.filter(instance_id=module_id, post__deleted_at__isnull=True)
    changed: dict[UUID, list[str]] = defaultdict(list)
    for id_, post_id, overrides in rows.values_list("pk", "post_id", "overrides").iterator():
        paths = [f"modules.{id_}.props.{name}" for name in names if name not in overrides]
        if paths:
            changed[post_id] += paths
    return changed
