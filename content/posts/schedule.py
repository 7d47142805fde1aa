"""What happens to posts at a set time: publication, scheduled changes, and expiry.

The scheduler runs every minute. After an outage it makes up for all that was missed, in order of the times, once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Literal
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from content.event_kinds import EXPIRY, SCHEDULE
from content.layers.schedule import approve_due, due_approvals
from content.models import Post, Provenance, ScheduledApproval, Status
from content.posts.publish import move_status
from content.store.layer_state import event_payload, lock_post
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.errors import CmsError, RuleViolation
from proofroom.core.hooks import Hook
from proofroom.core.independent_steps import independent_steps
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.observability.metrics import MetricReading

SCHEDULE_FAILED: Final = "post.schedule-failed"
OVERDUE_AFTER: Final = timedelta(minutes=2)
"""Delay from which a date of a post counts as overdue. Longer than the interval of the scheduler."""
DateKind = Literal["changes", "publication", "expiry"]
DATE_PATHS: Final[dict[DateKind, str]] = {
    "publication": "post.publishAt",
    "expiry": "post.unpublishAt",
}
"""Path of the field that holds a date. Scheduled changes have rows of their own."""


@dataclass(frozen=True, slots=True)
class DueWork:
    """Work of another app whose time has come. `run` handles its own failures, and returns True if it was done."""

    at: datetime
    key: str
    run: Callable[[], bool]


find_due_work: Hook[[datetime], Sequence[DueWork]] = Hook()
"""Functions of other apps that return what is due at a moment. It runs with the dates of posts, in order of time."""
_ORDER: Final[tuple[DateKind, ...]] = ("changes", "publication", "expiry")
"""The order at the same time: a post goes live with the changes that were scheduled for the same moment."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DueDate:
    """A date of a post that has come. `approval`: the scheduled changes."""

    at: datetime
    kind: DateKind
    post_id: UUID
    approval: ScheduledApproval | None = None

    @property
    def order(self) -> tuple[datetime, int, str]:
        return self.at, _ORDER.index(self.kind), str(self.post_id)


def due_posts(moment: datetime) -> QuerySet[Post]:
    """Return the drafts whose `publishAt` is at or before the moment."""
    return Post.objects.filter(
        publish_at__lte=moment,
        status=Status.DRAFT,
        deleted_at__isnull=True,
        is_placeholder=False,
    )


def expired_posts(moment: datetime) -> QuerySet[Post]:
    """Return the published posts whose `unpublishAt` is at or before the moment."""
    return Post.objects.filter(
        unpublish_at__lte=moment, status=Status.PUBLISHED, deleted_at__isnull=True
    )


def read_overdue_metrics() -> list[MetricReading]:
    """Return the number of posts with a date that is overdue by at least `OVERDUE_AFTER`. One query."""
    late = timezone.now() - OVERDUE_AFTER
    approvals = due_approvals(late).filter(post=OuterRef("pk"))
    overdue = Post.objects.filter(
        Q(pk__in=due_posts(late).values("pk"))
        | Q(pk__in=expired_posts(late).values("pk"))
        | Exists(approvals)
    )
    return [
        MetricReading(
            "proofroom_posts_overdue",
            "Scheduled posts that are late by two minutes or more.",
            overdue.count(),
        )
    ]


def find_due(moment: datetime) -> list[DueDate]:
    """Return all dates at or before the moment, in the order in which they take effect. Three queries."""
    found = [
        DueDate(at, "publication", pk)
        for pk, at in due_posts(moment).values_list("pk", "publish_at")
        if at is not None
    ]
    found += [
        DueDate(at, "expiry", pk)
        for pk, at in expired_posts(moment).values_list("pk", "unpublish_at")
        if at is not None
    ]
    found += [
        DueDate(row.at, "changes", row.post_id, row)
        for row in due_approvals(moment).select_related("by")
    ]
    return sorted(found, key=lambda due: due.order)


def run_due_dates(admin: Actor) -> int:
    """Publish, change and unpublish what is due, and return the number. Safe to run twice.

    Each date is judged with the rights that its maker has now. `admin` stands in for dates that no person set in
    this installation, such as those of an import.
    """
    count = 0
    # A post that fails must not block the others, nor must a failure to record that.
    moment = timezone.now()
    steps: list[tuple[tuple[datetime, int, str], str, Callable[[], bool]]] = [
        (due.order, f"the {due.kind} of the post {due.post_id}", partial(_run, due, admin))
        for due in find_due(moment)
    ]
    # After the dates of posts at the same time.
    for found in find_due_work(moment):
        steps += [((work.at, len(_ORDER), work.key), work.key, work.run) for work in found]
    with independent_steps() as step:
        for _order, name, run in sorted(steps, key=lambda one: one[0]):
            with step(name):
                count += run()
    return count


def _run(due: DueDate, admin: Actor) -> bool:
    """Do what is due, or record why it can't be done. Return True if it was done."""
    run: dict[DateKind, Callable[[DueDate, Actor], bool]] = {
        "changes": _approve,
        "publication": _publish,
        "expiry": _unpublish,
    }
    name = _LOG_NAMES[due.kind]
    try:
        # A transaction per post: a failure rolls back this post only, and is then recorded in another one.
        with transaction.atomic():
            return run[due.kind](due, admin)
    except CmsError as error:
        logger.warning("cannot %s post %s on schedule: %s", name, due.post_id, error.message)
        _record_failure(due, error.message, admin)
    # The database failed, not the post: nothing is recorded, and the next run tries again.
    except DatabaseError:
        logger.exception(
            "cannot %s post %s on schedule yet; the next task tries again", name, due.post_id
        )
    except Exception:
        logger.exception("cannot %s post %s on schedule", name, due.post_id)
        _record_failure(due, _("Something went wrong; the log says what."), admin)
    return False


_LOG_NAMES: Final[dict[DateKind, str]] = {
    "changes": "change",
    "publication": "publish",
    "expiry": "unpublish",
}


def _approve(due: DueDate, admin: Actor) -> bool:
    return due.approval is not None and approve_due(due.approval)


def _publish(due: DueDate, admin: Actor) -> bool:
    actor = require_maker(due, admin)
    post = lock_post(due.post_id, actor)
    # Checked again under the lock: another process may have published or rescheduled the post.
    now = timezone.now()
    if post.status != Status.DRAFT or post.publish_at is None or post.publish_at > now:
        return False
    if post.locale not in settings.CMS_ENV.locales:
        message = _("The site no longer has the language %(locale)s.") % {"locale": post.locale}
        raise RuleViolation(message, code="language_removed")
    if post.unpublish_at is not None and post.unpublish_at <= now:
        _drop_dates(post, actor)
        return False
    move_status(post=post, status=Status.PUBLISHED, actor=actor, live_cause=SCHEDULE)
    return True


def _unpublish(due: DueDate, admin: Actor) -> bool:
    actor = require_maker(due, admin)
    post = lock_post(due.post_id, actor)
    is_due = post.unpublish_at is not None and post.unpublish_at <= timezone.now()
    if post.status != Status.PUBLISHED or not is_due:
        return False
    move_status(post=post, status=Status.DRAFT, actor=actor, live_cause=EXPIRY)
    return True


def _drop_dates(post: Post, actor: Actor) -> None:
    """Leave a draft whose whole time on the site passed during an outage, and record that it was never published."""
    post.publish_at = post.unpublish_at = None
    post.version += 1
    post.save()
    payload = event_payload(post)
    payload["changedPaths"] = ["post.publishAt", "post.unpublishAt"]
    # No visitor saw the draft, so no cached page is stale.
    outbox.record("post.updated", actor=actor, post_id=post.pk, payload=payload, tags=())
    reason = _("The time to unpublish had passed before the post could be published.")
    failed: JsonObject = {**event_payload(post), "reason": reason, "what": "publication"}
    outbox.record(SCHEDULE_FAILED, actor=actor, post_id=post.pk, payload=failed)


def maker_of(post_id: UUID, kind: DateKind) -> Provenance | None:
    """Return who set a date of a post last, or None if no person did. One query."""
    found = Provenance.objects.filter(post=post_id, path=DATE_PATHS[kind])
    return found.select_related("approved_by").order_by("-pk").first()


def require_maker(due: DueDate, admin: Actor) -> Actor:
    """Return the actor for a date: who set it, with the rights of now. Raises `RuleViolation` without the account."""
    row = maker_of(due.post_id, due.kind)
    if row is None:
        return admin
    if row.approved_by is None:
        raise RuleViolation(
            _("The account of the person who set this date was deleted. Set the date again."),
            code="account_deleted",
        )
    return Actor(user=row.approved_by, via="system")


@transaction.atomic
def _record_failure(due: DueDate, reason: str, admin: Actor) -> None:
    """Record that a date failed. Once per date, because the scheduler tries publications and expiries again."""
    # Locked, so that two runs of the scheduler can't both record the failure.
    post = Post.objects.select_for_update(of=("self",), no_key=True).filter(pk=due.post_id).first()
    if post is None:
        return
    actor = _actor_of_failure(due, admin)
    payload: JsonObject = {**event_payload(post), "reason": reason, "what": due.kind}
    if due.approval is not None:
        rows = ScheduledApproval.objects.filter(pk=due.approval.pk, failed_at__isnull=True)
        if rows.update(failed_at=timezone.now(), reason=reason):
            outbox.record(SCHEDULE_FAILED, actor=actor, post_id=post.pk, payload=payload)
        return
    at = post.publish_at if due.kind == "publication" else post.unpublish_at
    if at is None:
        return
    known = Event.objects.filter(
        name=SCHEDULE_FAILED, post_id=post.pk, created_at__gte=at, payload__what=due.kind
    )
    if not known.exists():
        outbox.record(SCHEDULE_FAILED, actor=actor, post_id=post.pk, payload=payload)


def _actor_of_failure(due: DueDate, admin: Actor) -> Actor:
    """Return the maker of the date, or the site if the account is gone."""
    if due.approval is not None:
        user = due.approval.by
    else:
        row = maker_of(due.post_id, due.kind)
        if row is None:
            return admin
        user = row.approved_by
    return Actor(user=user if user is not None else SYSTEM, via="system")
