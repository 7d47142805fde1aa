"""Schedule: approve changes in Review now, to go live at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.changes import Change
from content.document.differences import base_path
from content.document.labels import label_of, module_names
from content.event_kinds import SCHEDULE
from content.layers.approve import approve, require_approvable
from content.models import Post, ScheduledApproval
from content.post_checks.results import require_live_change
from content.rules.publication_gates import find_approval_obstacles
from content.store.digest import digest_of, read_digest, was_seen
from content.store.layer_state import LayerView, event_payload, lock_post, open_layers
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject, format_time
from proofroom.core.validation.input_validation import parse_uuid


@dataclass(frozen=True, slots=True)
class ApprovalPlan:
    """A scheduled approval. `conflict`: why its changes could not go live now; empty if they could."""

    row: ScheduledApproval
    conflict: str = ""


@transaction.atomic
def schedule_approval(
    *,
    post_id: UUID | str,
    actor: Actor,
    digest: str,
    at: datetime,
    paths: Collection[str] | None = None,
) -> ScheduledApproval:
    """Approve all changes in Review, or only those at `paths`, for a time in the future.

    They are judged now and again at that time. Changes that are staged later do not go with them. Raises what
    `approve` raises, and `RuleViolation` (`already_scheduled`) on `paths` that wait for a time already.
    """
    actor.require_session("schedule changes")
    actor.require("posts.review.approve")
    read_digest(digest)
    if at <= timezone.now():
        raise invalid("at", _("Choose a time in the future."))
    post = lock_post(post_id, actor)
    approval = require_approvable(post=post, actor=actor, digest=digest, paths=paths)
    require_live_change([(post, approval.layers.live, approval.document)])
    wanted = list(dict.fromkeys(approval.selection.paths if paths is None else paths))
    if not wanted:
        raise RuleViolation(_("There are no changes to schedule."), code="nothing_staged")
    changed = {base_path(path) for path in wanted}
    others = approvals_of(post).filter(failed_at__isnull=True)
    taken = sorted({path for row in others for path in row.paths if base_path(path) in changed})
    if taken:
        message = _("These changes are scheduled already: %(paths)s.") % {"paths": ", ".join(taken)}
        raise RuleViolation(message, code="already_scheduled", details={"paths": [message]})
    row = ScheduledApproval.objects.create(
        post=post,
        at=at,
        paths=wanted,
        # Narrower than the reviewer's, and without what is staged at other paths.
        digest=digest_of(
            change for change in approval.layers.review.changes if change.path in changed
        ),
        by_id=actor.user.pk,
        by_name=actor.user.username,
    )
    outbox.record("post.review.schedule", actor=actor, post_id=post.pk, payload=_payload(post, row))
    return row


@transaction.atomic
def move_approval(
    *,
    post_id: UUID | str,
    schedule_id: UUID | str,
    actor: Actor,
    at: datetime,
    expected_at: datetime | None = None,
) -> ScheduledApproval:
    """Approve scheduled changes for another time. From then on the rights of the actor count.

    They are judged again. Raises `Conflict` if they are no longer scheduled for `expected_at`, and what `approve`
    raises.
    """
    actor.require_session("schedule changes")
    actor.require("posts.review.approve")
    post = lock_post(post_id, actor)
    row = find_approval(post, schedule_id)
    if expected_at is not None and format_time(expected_at) != format_time(row.at):
        raise Conflict(_("These changes were scheduled for another time since you read this."))
    if at <= timezone.now():
        raise invalid("at", _("Choose a time in the future."))
    approval = require_approvable(post=post, actor=actor, digest=row.digest, paths=row.paths)
    require_live_change([(post, approval.layers.live, approval.document)])
    row.at, row.by_id, row.by_name = at, actor.user.pk, actor.user.username
    row.failed_at, row.reason = None, ""
    row.save()
    outbox.record("post.review.schedule", actor=actor, post_id=post.pk, payload=_payload(post, row))
    return row


@transaction.atomic
def cancel_approval(*, post_id: UUID | str, schedule_id: UUID | str, actor: Actor) -> None:
    """Remove a scheduled approval. Its changes stay in Review."""
    actor.require_session("remove a schedule")
    actor.require("posts.review.approve")
    post = lock_post(post_id, actor)
    row = find_approval(post, schedule_id)
    outbox.record(
        "post.review.unschedule", actor=actor, post_id=post.pk, payload=_payload(post, row)
    )
    row.delete()


def approvals_of(post: Post) -> QuerySet[ScheduledApproval]:
    """Return the scheduled approvals of a post, the next one first. Failed ones stay until they are removed."""
    return ScheduledApproval.objects.filter(post=post).order_by("at", "pk")


def find_approval(post: Post, schedule_id: UUID | str) -> ScheduledApproval:
    """Return a scheduled approval of the post. Raises `NotFound`."""
    id_ = parse_uuid(schedule_id)
    row = approvals_of(post).filter(pk=id_).first() if id_ is not None else None
    if row is None:
        raise NotFound(_("This post has no scheduled changes with this id."))
    return row


def plans_of(
    post: Post, rows: Iterable[ScheduledApproval], review: LayerView
) -> list[ApprovalPlan]:
    """Return scheduled approvals of a post with what is in their way, which their people need not wait to learn."""
    found = list(rows)
    obstacles = find_approval_obstacles([(post, _changes_of(row, review)) for row in found])
    return [
        ApprovalPlan(row, row.reason)
        if row.failed_at is not None
        else ApprovalPlan(row, _conflict_of(row, review) or obstacle)
        for row, obstacle in zip(found, obstacles, strict=True)
    ]


def _changes_of(row: ScheduledApproval, review: LayerView) -> list[Change]:
    paths = {base_path(path) for path in row.paths}
    return [change for change in review.changes if change.path in paths]


def _conflict_of(row: ScheduledApproval, review: LayerView) -> str:
    """Return which of the changes are no longer what the reviewer saw, in words; empty if none."""
    labels = stale_labels(row.paths, row.digest, review)
    if not labels:
        return ""
    return _("Changed or decided since it was scheduled: %(labels)s.") % {"labels": labels}


def stale_labels(paths: Collection[str], digest: str, review: LayerView) -> str:
    """Return the labels of the changes that are no longer what the reviewer saw, in one line; empty if none."""
    seen = read_digest(digest)
    staged = {change.path: change for change in review.changes}
    moved = []
    for path in dict.fromkeys(map(base_path, paths)):
        change = staged.get(path)
        if change is None or not was_seen(seen, change):
            moved.append(path)
    if not moved:
        return ""
    names = module_names(review.document, review.below)
    return ", ".join(label_of(path, review.document, names) for path in moved)


def due_approvals(moment: datetime) -> QuerySet[ScheduledApproval]:
    """Return the approvals whose time is at or before the moment and that did not fail."""
    return ScheduledApproval.objects.filter(
        at__lte=moment, failed_at__isnull=True, post__deleted_at__isnull=True
    )


@transaction.atomic
def approve_due(row: ScheduledApproval) -> bool:
    """Approve changes whose time has come, with the rights that the reviewer has now. Return True if they are live.

    Changes that were all decided in the meantime need nothing more. Raises what `approve` raises, then nothing is
    written.
    """
    if row.by is None:
        raise RuleViolation(
            _("The account of the person who scheduled this was deleted."), code="account_deleted"
        )
    actor = Actor(user=row.by, via="system")
    post = lock_post(row.post_id, actor)
    # Again under the lock of the post: another worker may have been faster, or somebody removed the schedule.
    if not due_approvals(timezone.now()).filter(pk=row.pk).exists():
        return False
    review = open_layers(post).review
    staged = {change.path for change in review.changes}
    is_waiting = any(base_path(path) in staged for path in row.paths)
    if is_waiting:
        if conflict := _conflict_of(row, review):
            raise Conflict(conflict, code="stale_review")
        approve(
            post_id=post.pk,
            actor=actor,
            digest=row.digest,
            paths=row.paths,
            live_cause=SCHEDULE,
        )
    ScheduledApproval.objects.filter(pk=row.pk).delete()
    return is_waiting


def _payload(post: Post, row: ScheduledApproval) -> JsonObject:
    return {**event_payload(post), "at": format_time(row.at), "paths": [*row.paths]}
