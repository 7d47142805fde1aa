"""Publish: change the status of a post."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from content.layers.live import tags_of
from content.models import Post, QueuedChange, Status
from content.post_checks.registry import blocking_checks
from content.post_checks.results import require_publishable
from content.rules.publication_gates import before_publication
from content.store import post_repository
from content.store.layer_state import event_payload, lock_post
from content.store.post_paths import check_paths_are_free, path_for, set_path
from content.store.publish_permissions import status_permission
from content.store.traffic import stop, stop_variations
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid

_MOVES: Final = frozenset(
    {
        (Status.DRAFT, Status.PUBLISHED),
        (Status.PUBLISHED, Status.DRAFT),
        (Status.DRAFT, Status.ARCHIVED),
        (Status.PUBLISHED, Status.ARCHIVED),
        (Status.ARCHIVED, Status.DRAFT),
    }
)


@transaction.atomic
def set_status(*, post_id: UUID | str, status: str, actor: Actor) -> Post:
    """Change the status of a post. `publishedAt` is set on the first publication and then stays."""
    post = lock_post(post_id, actor)
    if status != post.status:
        move_status(post=post, status=status, actor=actor)
    return post


def move_status(
    *,
    post: Post,
    status: str,
    actor: Actor,
    publish_at: datetime | None = None,
    unpublish_at: datetime | None = None,
    was_never_published: bool = False,
    live_cause: str = "",
) -> None:
    """Change the status of a post that the caller has locked. `publish_at` applies to drafts.

    A draft that is published keeps its `unpublishAt`. Any other move removes it, unless `unpublish_at` restores one.
    `live_cause`: cause to name in `content.changed`, if no person changed the status. Then a draft whose
    `unpublishAt` has passed is refused; a person publishes it without.

    `was_never_published` undoes the first publication: the draft loses its date and gets a draft's path.
    """
    actor.require_person("change the status of a post")
    if status not in Status.values:
        raise invalid(
            "status",
            _("%(status)r is not a status. Available: %(values)s.")
            % {"status": status, "values": ", ".join(Status.values)},
        )
    if (post.status, status) not in _MOVES:
        raise invalid(
            "status",
            _("A post cannot change from %(status)s to %(status_2)s.")
            % {"status": post.status, "status_2": status},
        )
    if status == Status.PUBLISHED and post.variation_of_id is not None:
        message = _(
            "Variations are not published. Promote the variation to use its content for the original."
        )
        raise RuleViolation(message, code="is_variation", details={"status": [message]})
    if status == Status.PUBLISHED and post.is_placeholder:
        message = _("This post was created by an agent. Approve its content before you publish it.")
        raise RuleViolation(message, code="not_approved", details={"status": [message]})
    actor.require(status_permission(status))
    if status == Status.PUBLISHED and live_cause:
        require_unexpired(post)
    if status == Status.PUBLISHED and blocking_checks(post.type):
        require_publishable(post, post_repository.load(post))
    if status == Status.PUBLISHED:
        before_publication(post, lambda: post_repository.load(post))
    if status != Status.PUBLISHED:
        stop(post, actor)
        stop_variations(post, actor)
    old_path = post.path
    if Status.PUBLISHED in (post.status, status):
        # The inbox weighs staged changes differently if the post is public.
        QueuedChange.objects.filter(post=post).update(
            weight=F("risk_live" if status == Status.PUBLISHED else "risk")
        )
    post.status = status
    post.version += 1
    post.publish_at = publish_at if status == Status.DRAFT else None
    expiry = unpublish_at or (post.unpublish_at if status == Status.PUBLISHED else None)
    # A time in the past would take the post off the site at the next run of the scheduler.
    post.unpublish_at = expiry if expiry is not None and expiry > timezone.now() else None
    if status == Status.PUBLISHED and post.published_at is None:
        post.published_at = timezone.now()
        # The path may contain the day. A draft's address was never public, so it needs no redirect.
        set_path(post, path_for(post))
    elif status == Status.DRAFT and was_never_published and post.published_at is not None:
        post.published_at = None
        set_path(post, path_for(post))
    post.save()
    outbox.record_each(
        ("post.published", "post.publish") if status == Status.PUBLISHED else ("post.updated",),
        actor=actor,
        post_id=post.pk,
        payload=event_payload(post, cause=live_cause),
        tags=tags_of(post),
    )
    if post.path != old_path:
        check_paths_are_free([post], actor)


def require_unexpired(post: Post) -> None:
    """Raise `RuleViolation` (`before_publication`) if the post should be off the site again by now."""
    if post.unpublish_at is not None and post.unpublish_at <= timezone.now():
        message = _("The time to unpublish had passed before the post could be published.")
        raise invalid("unpublishAt", message, code="before_publication")
