"""Publish: change the status of a post, by hand or on schedule."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from content.layers.live import tags_of
from content.models import Post, QueuedChange, Status
from content.post_checks.registry import blocking_checks
from content.post_checks.results import require_publishable
from content.store import post_repository
from content.store.layer_state import event_payload, lock_post
from content.store.post_paths import check_paths_are_free, path_for, set_path
from content.store.publish_permissions import status_permission
from content.store.traffic import stop, stop_variations
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, RuleViolation, invalid
from proofroom.core.independent_steps import independent_steps
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.observability.metrics import MetricReading

SCHEDULE_FAILED: Final = "post.schedule-failed"
logger = logging.getLogger(__name__)
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
    was_never_published: bool = False,
) -> None:
    """Change the status of a post that the caller has locked. `publish_at` applies to drafts.

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
    if status == Status.PUBLISHED and blocking_checks(post.type):
        require_publishable(post, post_repository.load(post))
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
        payload=event_payload(post),
        tags=tags_of(post),
    )
    if post.path != old_path:
        check_paths_are_free([post], actor)


def due_posts(moment: datetime) -> QuerySet[Post]:
    """Return the drafts whose `publishAt` is at or before the moment."""
    return Post.objects.filter(
        publish_at__lte=moment,
        status=Status.DRAFT,
        deleted_at__isnull=True,
        is_placeholder=False,
    )


OVERDUE_AFTER: Final = timedelta(minutes=2)
"""Delay from which a scheduled post counts as overdue. Longer than the interval of the scheduler."""


def read_overdue_metrics() -> list[MetricReading]:
    """Return the number of drafts that are overdue by at least `OVERDUE_AFTER`. One query."""
    overdue = due_posts(timezone.now() - OVERDUE_AFTER).count()
    return [
        MetricReading(
            "proofroom_posts_overdue",
            "Scheduled posts that are late by two minutes or more.",
            overdue,
        )
    ]


def publish_due_posts(actor: Actor) -> int:
    """Publish the drafts whose `publishAt` has come and return their number. Safe to run twice."""
    due = due_posts(timezone.now())
    count = 0
    # A post that can't be published must not block the others, nor must a failure to record that.
    with independent_steps() as step:
        for pk in list(due.order_by("publish_at").values_list("pk", flat=True)):
            with step(f"the schedule of the post {pk}"):
                count += _publish_due_post(pk, actor)
    return count


def _publish_due_post(post_id: UUID, actor: Actor) -> bool:
    """Publish a due post, or record why it can't be published. Return True if it was published."""
    try:
        # A transaction per post: a failure rolls back this post only, and is then recorded in another one.
        with transaction.atomic():
            post = lock_post(post_id, actor)
            # Checked again under the lock: another process may have published or rescheduled the post.
            is_due = post.publish_at is not None and post.publish_at <= timezone.now()
            if post.status != Status.DRAFT or not is_due:
                return False
            _require_language(post)
            move_status(post=post, status=Status.PUBLISHED, actor=actor)
    except CmsError as error:
        logger.warning("cannot publish post %s on schedule: %s", post_id, error.message)
        _record_failure(post_id, error.message, actor)
        return False
    # The database failed, not the post: nothing is recorded, and the next run tries again.
    except DatabaseError:
        logger.exception(
            "cannot publish post %s on schedule yet; the next task tries again", post_id
        )
        return False
    except Exception:
        logger.exception("cannot publish post %s on schedule", post_id)
        _record_failure(post_id, _("Something went wrong; the log says what."), actor)
        return False
    return True


def _require_language(post: Post) -> None:
    if post.locale not in settings.CMS_ENV.locales:
        message = _("The site no longer has the language %(locale)s.") % {"locale": post.locale}
        raise RuleViolation(message, code="language_removed")


@transaction.atomic
def _record_failure(post_id: UUID, reason: str, actor: Actor) -> None:
    """Record that a schedule failed, once per date, because every run of the scheduler tries and fails again."""
    # Locked, so that two runs of the scheduler can't both record the failure.
    post = Post.objects.select_for_update(of=("self",), no_key=True).filter(pk=post_id).first()
    if post is None or post.publish_at is None:
        return
    known = Event.objects.filter(
        name=SCHEDULE_FAILED, post_id=post_id, created_at__gte=post.publish_at
    )
    if not known.exists():
        payload: JsonObject = {**event_payload(post), "reason": reason}
        outbox.record(SCHEDULE_FAILED, actor=actor, post_id=post_id, payload=payload)
