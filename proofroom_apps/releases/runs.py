"""Going live and undo of releases, by a person or at the time of the release.

A run checks the items in parts, so that its progress is visible. Then one transaction writes all of them, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar, Final, cast
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.models import Post
from content.paths.tree_changes import check_joint_moves, lock_below
from content.posts.schedule import OVERDUE_AFTER, DueWork
from content.store.joint_moves import JointMoves, moving_together
from proofroom.core.actor import SYSTEM, Actor, Via
from proofroom.core.background_jobs.models import JobState
from proofroom.core.background_jobs.runner import PartRunner
from proofroom.core.caching.content_version import lock_content_version, version_last
from proofroom.core.errors import CmsError, Conflict, RuleViolation
from proofroom.core.observability.metrics import MetricReading
from proofroom_apps.releases.kinds import (
    KINDS,
    ChangesKind,
    Conflicts,
    by_kind,
    find_changed_since,
    find_conflicts,
    find_moving,
    in_order,
    in_write_order,
    lock_objects,
    plan_moves,
    plan_moves_back,
)
from proofroom_apps.releases.models import (
    Release,
    ReleaseItem,
    ReleaseRun,
    ReleaseState,
    RunKind,
)
from proofroom_apps.releases.queries import MANAGE
from proofroom_apps.releases.services import (
    MAX_IN_REQUEST,
    ReleaseConflict,
    account_deleted,
    approver_of,
    conflict_of,
    judge,
    lock_release,
    record_event,
    require_editable,
    require_ready,
)


class ReleaseRunner(PartRunner[ReleaseRun, ReleaseItem]):
    """Runs publications and undos of releases. An item that can't be written stops the whole run."""

    model = ReleaseRun
    task: ClassVar[str] = "releases.tasks.run_release"
    noun: ClassVar[str] = "release run"
    defect_text = gettext_lazy("Something went wrong; the log says what.")
    # The last part is one transaction of all items. Its row is locked, so that no sweep resumes it meanwhile.
    late_after: ClassVar[timedelta] = timedelta(minutes=5)

    def actor_of(self, job: ReleaseRun) -> Actor:
        return replace(super().actor_of(job), via=cast("Via", job.via))

    def next_part(self, job: ReleaseRun) -> Sequence[ReleaseItem]:
        if job.is_applied:
            return ()
        items = list(ReleaseItem.objects.filter(release=job.release_id))
        if job.done < len(items):
            return in_order(items)[job.done : job.done + MAX_IN_REQUEST]
        return in_order(items)

    def do_part(self, job: ReleaseRun, part: Sequence[ReleaseItem], actor: Actor) -> None:
        actor.require(MANAGE)
        # First, as other writers of a release do, so that they can't wait for each other.
        release = lock_release(job.release_id)
        approvers = self._approvers(job, part, actor)
        if job.done < job.total:
            self._check(job, part, approvers)
            job.done = min(job.total, job.done + len(part))
            return
        if failed := {item.pk: item.failure for item in part if item.failure}:
            raise conflict_of(part, failed)
        lock_objects(part)
        # Caches see one change, not a thousand. Other writers of live content wait for the last part of it only.
        with version_last():
            if job.kind == RunKind.PUBLISH:
                self._publish(release, part, approvers, actor)
            else:
                self._undo(release, part, actor)
        job.is_applied = True

    def refuse_part(self, job: ReleaseRun, part: Sequence[ReleaseItem], why: str) -> bool:
        ReleaseItem.objects.bulk_update(part, ["failure"], batch_size=100)
        return False

    def on_end(self, job: ReleaseRun, actor: Actor | None) -> None:
        if job.is_applied:
            return
        release = lock_release(job.release_id)
        is_undo = job.kind == RunKind.UNDO
        release.state = ReleaseState.PUBLISHED if is_undo else ReleaseState.FAILED
        release.failure = job.why
        release.save()
        maker = Actor(user=job.by if job.by is not None else SYSTEM, via="system")
        record_event("release.failed", release, actor or maker, what=job.kind, reason=job.why)

    def _approvers(
        self, job: ReleaseRun, part: Sequence[ReleaseItem], actor: Actor
    ) -> dict[int, Actor]:
        """Return in whose name each item goes live. One query."""
        if not job.is_scheduled:
            return {item.pk: actor for item in part}
        rows = ReleaseItem.objects.filter(pk__in=[item.pk for item in part])
        people = {item.pk: item.approved_by for item in rows.select_related("approved_by")}
        return {pk: replace(actor, user=user) for pk, user in people.items() if user is not None}

    def _check(
        self, job: ReleaseRun, part: Sequence[ReleaseItem], approvers: dict[int, Actor]
    ) -> None:
        lock_objects(part)
        if job.kind == RunKind.UNDO:
            found = find_changed_since(part)
        else:
            found = find_conflicts(part)
            found |= judge([item for item in part if item.pk not in found], approvers)
        for item in part:
            item.failure = found.get(item.pk, "")
        ReleaseItem.objects.bulk_update(part, ["failure"])

    def _publish(
        self,
        release: Release,
        items: Sequence[ReleaseItem],
        approvers: dict[int, Actor],
        actor: Actor,
    ) -> None:
        moves = plan_moves(release.pk)
        with moving_together(moves):
            for item in _to_write(items, moves):
                with _named_in_errors(items, item):
                    approver = approver_of(item, approvers)
                    item.before = {**KINDS[item.kind].apply(item, approver)}
        _require_free_addresses(items, moves)
        for kind, of_kind in by_kind(items).items():
            # After all items: one of them may have changed the object of another.
            versions = kind.versions({item.object_id for item in of_kind})
            for item in of_kind:
                item.before["version"] = versions.get(item.object_id)
        ReleaseItem.objects.bulk_update(items, ["before"], batch_size=100)
        release.state, release.failure = ReleaseState.PUBLISHED, ""
        release.published_at, release.published_by_name = timezone.now(), actor.user.username
        release.save()
        record_event("release.published", release, actor)

    def _undo(self, release: Release, items: Sequence[ReleaseItem], actor: Actor) -> None:
        # Again, under the locks.
        if found := find_changed_since(items):
            raise conflict_of(items, found)
        moves = plan_moves_back(items)
        with moving_together(moves):
            for item in _to_write(items, moves, is_undo=True):
                with _named_in_errors(items, item):
                    item.failure = KINDS[item.kind].undo(item, actor)
        _require_free_addresses(items, moves)
        ReleaseItem.objects.bulk_update(items, ["failure"], batch_size=100)
        release.state, release.failure = ReleaseState.UNDONE, ""
        release.save()
        left = sum(bool(item.failure) for item in items)
        record_event("release.undone", release, actor, notStagedAgain=left)


RELEASE_RUNS: Final = ReleaseRunner()


def publish_release(*, release_id: UUID | str, actor: Actor) -> ReleaseRun:
    """Make all items of a release live, or none. A small release is live on return, a worker does a large one.

    Raises `NotAllowed`, `RuleViolation` (`empty_release`), and `ReleaseConflict` with the items that stop it.
    """
    actor.require_session("publish a release")
    actor.require(MANAGE)
    with transaction.atomic():
        release = lock_release(release_id)
        require_editable(release)
        items = list(release.items.all())
        if not items:
            raise RuleViolation(_("This release has no items."), code="empty_release")
        # Judged for now, not for the time that it may have had.
        release.at, release.time_zone = None, ""
        require_ready(items, actor)
        run = _create_run(release, RunKind.PUBLISH, actor, len(items))
    return _begin(run)


def undo_release(*, release_id: UUID | str, actor: Actor) -> ReleaseRun:
    """Restore what was live before a release: all of it, or nothing if one item was changed since.

    Raises `NotAllowed`, and `Conflict` (`not_published`, or `release_conflict` with the items).
    """
    actor.require_session("undo a release")
    actor.require(MANAGE)
    with transaction.atomic():
        release = lock_release(release_id)
        if release.state != ReleaseState.PUBLISHED:
            message = _("Only a release that has gone live can be undone.")
            raise Conflict(message, code="not_published")
        items = list(release.items.all())
        for kind in by_kind(items):
            actor.require(kind.undo_permission)
        if found := find_changed_since(items):
            raise conflict_of(items, found)
        run = _create_run(release, RunKind.UNDO, actor, len(items))
    return _begin(run)


def find_due_releases(moment: datetime) -> list[DueWork]:
    """Return the releases whose time has come. One query."""
    rows = Release.objects.filter(state=ReleaseState.SCHEDULED, at__lte=moment)
    return [
        DueWork(at, f"the release {pk}", partial(_run_due, pk))
        for pk, at in rows.values_list("pk", "at")
        if at is not None
    ]


def read_overdue_metrics() -> list[MetricReading]:
    """Return the number of releases that are overdue by at least `OVERDUE_AFTER`. One query."""
    late = timezone.now() - OVERDUE_AFTER
    rows = Release.objects.filter(state=ReleaseState.SCHEDULED, at__lte=late)
    return [
        MetricReading(
            "proofroom_releases_overdue",
            "Scheduled releases that are late by two minutes or more.",
            rows.count(),
        )
    ]


def _run_due(release_id: UUID) -> bool:
    """Start a release whose time has come. Return True unless it failed."""
    with transaction.atomic():
        # Again under the lock: another process may have started, changed or deleted it.
        rows = Release.objects.select_for_update(of=("self",), no_key=True)
        release = rows.select_related("scheduled_by").filter(pk=release_id).first()
        now = timezone.now()
        if (
            release is None
            or release.state != ReleaseState.SCHEDULED
            or release.at is None
            or release.at > now
        ):
            return False
        total = release.items.count()
        if release.scheduled_by is None or not total:
            reason = account_deleted() if total else RuleViolation(_("The release has no items."))
            release.state, release.failure = ReleaseState.FAILED, reason.message
            release.save()
            user = release.scheduled_by if release.scheduled_by is not None else SYSTEM
            actor = Actor(user=user, via="system")
            record_event(
                "release.failed",
                release,
                actor,
                what=str(RunKind.PUBLISH.value),
                reason=reason.message,
            )
            return False
        actor = Actor(user=release.scheduled_by, via="system")
        run = _create_run(release, RunKind.PUBLISH, actor, total)
    return RELEASE_RUNS.begin(run, at_once=total <= MAX_IN_REQUEST).state != JobState.FAILED


def _create_run(release: Release, kind: RunKind, actor: Actor, total: int) -> ReleaseRun:
    release.state, release.failure = ReleaseState.RUNNING, ""
    release.save()
    release.items.update(failure="")
    return RELEASE_RUNS.create(actor, release=release, kind=kind, total=total, via=actor.via)


def _begin(run: ReleaseRun) -> ReleaseRun:
    run = RELEASE_RUNS.begin(run, at_once=run.total <= MAX_IN_REQUEST)
    if run.state == JobState.FAILED:
        items = list(ReleaseItem.objects.filter(release=run.release_id))
        failed = {item.pk: item.failure for item in items if item.failure}
        raise conflict_of(items, failed) if failed else ReleaseConflict(run.why)
    return run


def _to_write(
    items: Sequence[ReleaseItem], moves: JointMoves, *, is_undo: bool = False
) -> Iterator[ReleaseItem]:
    """Yield items to write. The content version is locked before items that can change redirects or addresses.

    Before the first change of an address, all posts leave the addresses that others take.
    """
    moving = find_moving(items, moves, is_undo=is_undo)
    is_locked = has_left = False
    lock_below(Post.objects.filter(pk__in=moves.places).order_by("pk"))
    for item in in_write_order(items, moves, moving, is_undo=is_undo):
        if item.pk in moving and not is_locked:
            lock_content_version(is_last=True)
            is_locked = True
        if item.kind == ChangesKind.name and item.object_id in moves.places and not has_left:
            moves.leave()
            has_left = True
        moves.writing = item.object_id
        yield item
    lock_content_version(is_last=True)


def _require_free_addresses(items: Sequence[ReleaseItem], moves: JointMoves) -> None:
    """Raise `ReleaseConflict` if two posts have the same address, now that all items are written."""
    taken = check_joint_moves(moves)
    found: Conflicts = {}
    for item in items:
        if (error := taken.get(item.object_id)) is not None:
            item.failure = found[item.pk] = error.message
    if found:
        raise conflict_of(items, found)


@contextmanager
def _named_in_errors(items: Sequence[ReleaseItem], item: ReleaseItem) -> Iterator[None]:
    """Turn errors of the item into one that names it, and note it in the item."""
    try:
        yield
    except CmsError as error:
        item.failure = error.message
        raise conflict_of(items, {item.pk: error.message}) from error
