"""Undo: revert the last step of a user with a post, unless the post was changed since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from content.layers.revert import revert_to_revision
from content.models import Post, Status
from content.posts.publish import move_status
from content.posts.trash import delete_post, restore_post
from content.store.layer_state import lock_post, lock_post_in
from content.store.traffic import change_variation, running_variations
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound
from proofroom.core.json import Json, JsonObject, format_time

_WAYS_BACK: Final = {
    # An archived post can't be published directly: it must become a draft first.
    (Status.ARCHIVED, Status.PUBLISHED): (Status.DRAFT, Status.PUBLISHED),
}


@transaction.atomic
def undo_status(
    *,
    post_id: UUID | str,
    version: int,
    status: str,
    publish_at: datetime | None,
    unpublish_at: datetime | None = None,
    actor: Actor,
    running: Sequence[UUID | str] = (),
    was_never_published: bool = False,
) -> Post:
    """Restore the status and the dates that a post had before its last change.

    `running`: variations to start again. `was_never_published`: the change was the first publication, so its
    date is removed too.
    """
    post = _lock_unchanged(post_id, version, actor)
    if publish_at is not None and publish_at <= timezone.now():
        publish_at = None
    if unpublish_at is not None and unpublish_at <= timezone.now():
        unpublish_at = None
    for each in _WAYS_BACK.get((Status(post.status), Status(status)), (status,)):
        move_status(
            post=post,
            status=each,
            actor=actor,
            publish_at=publish_at,
            unpublish_at=unpublish_at,
            was_never_published=was_never_published,
        )
    for variation_id in running:
        change_variation(post_id=post.pk, variation_id=variation_id, actor=actor, running=True)
    return post


def record_status(post: Post) -> JsonObject:
    """Return status and dates of a post before a change, for `restore_status`."""
    return {
        "status": post.status,
        "publish_at": format_time(post.publish_at),
        "unpublish_at": format_time(post.unpublish_at),
        "running": [str(id_) for id_ in running_variations(post)],
        "never_published": post.published_at is None,
    }


def restore_status(
    *, post_id: UUID | str, version: int, before: Mapping[str, Json], actor: Actor
) -> Post:
    """Restore what `record_status` returned. Raises as `undo_status` does."""
    running = before["running"]
    # Jobs of earlier versions stored no time to unpublish.
    publish_at, unpublish_at = (
        parse_datetime(str(at)) if (at := before.get(name)) else None
        for name in ("publish_at", "unpublish_at")
    )
    return undo_status(
        post_id=post_id,
        version=version,
        status=str(before["status"]),
        publish_at=publish_at,
        unpublish_at=unpublish_at,
        actor=actor,
        running=[str(id_) for id_ in running] if isinstance(running, list) else (),
        was_never_published=before["never_published"] is True,
    )


@transaction.atomic
def undo_delete(*, post_id: UUID | str, deleted_at: datetime | None, actor: Actor) -> Post:
    """Restore a post from the trash, unless it was restored and deleted again since."""
    found = lock_post_in(Post.objects.filter(deleted_at__isnull=False), post_id)
    if found is not None and found.deleted_at != deleted_at:
        raise Conflict(_("The post was changed in the meantime."), current=found.version)
    try:
        return restore_post(post_id=post_id, actor=actor)
    except NotFound:
        raise Conflict(_("The post is no longer in the trash.")) from None


@transaction.atomic
def undo_restore(*, post_id: UUID | str, version: int, actor: Actor) -> Post:
    """Move a restored post back to the trash."""
    _lock_unchanged(post_id, version, actor)
    return delete_post(post_id=post_id, actor=actor)


@transaction.atomic
def undo_revert(
    *, post_id: UUID | str, version: int, revision_id: UUID | str, actor: Actor
) -> Post:
    """Restore the revision that was current before a revert."""
    _lock_unchanged(post_id, version, actor)
    return revert_to_revision(post_id=post_id, revision_id=revision_id, actor=actor, note="undo")


def _lock_unchanged(post_id: UUID | str, version: int, actor: Actor) -> Post:
    try:
        post = lock_post(post_id, actor)
    except NotFound:
        raise Conflict(_("The post no longer exists.")) from None
    if post.version != version:
        message = _("The post was changed in the meantime.")
        raise Conflict(message, current=post.version)
    return post
