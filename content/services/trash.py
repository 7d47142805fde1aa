"""Trash: soft delete and restore."""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from content.layers.live import event_payload
from content.layers.state import lock_post, locked, post_not_found
from content.models import Post
from content.paths import check_paths_are_free
from content.rules.fields import taken_by_another
from core import events
from core.actor import Actor


@transaction.atomic
def delete_post(*, post_id: UUID | str, actor: Actor) -> Post:
    """Put a post into the trash. Its layers, revisions and translations stay as they are."""
    actor.require_person("delete posts")
    actor.require("posts.delete")
    post = lock_post(post_id)
    post.deleted_at = timezone.now()
    post.save(update_fields=["deleted_at", "updated_at"])
    events.record("post.deleted", actor=actor, post_id=post.pk, payload=event_payload(post))
    return post


@transaction.atomic
def restore_post(*, post_id: UUID | str, actor: Actor) -> Post:
    """Take a post out of the trash. Raises `RuleViolation` on `slug` where slug or address are taken by now."""
    actor.require_person("restore posts")
    actor.require("posts.restore")
    post = locked(Post.objects.filter(deleted_at__isnull=False), post_id)
    if post is None:
        raise post_not_found(post_id)
    post.deleted_at = None
    try:
        with transaction.atomic():
            post.save(update_fields=["deleted_at", "updated_at"])
    except IntegrityError:
        raise taken_by_another(post) from None
    events.record("post.restored", actor=actor, post_id=post.pk, payload=event_payload(post))
    check_paths_are_free([post])
    return post
