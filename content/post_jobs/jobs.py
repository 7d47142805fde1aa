"""Steps with many posts: begun, cancelled and undone by a person; few posts at once, many by a worker.

Each part is its own transaction with the note of what came of its posts, so that a worker may be killed at any point,
and the lock on the job lets one worker be at it at a time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone, translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from content.models import JobKind, JobOutcome, JobState, Post, PostJob, PostJobItem
from content.post_jobs.steps import STEPS
from content.posts.copy import MAX_COPIED, copy_page, pages_to_copy
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.faults import DATABASE_AWAY
from proofroom.core.errors import CmsError, Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.task_queue import queue_task, send_after_commit

logger = logging.getLogger(__name__)
MAX_POSTS: Final = 1_000
"""Posts whose status is changed at once."""
MAX_IN_REQUEST: Final = 25
"""As many posts are done before the answer, more by a worker."""
TURN_SECONDS: Final = 20.0
"""After so long the worker takes up what else waits; the job goes on with a message of its own."""
_LATE_AFTER: Final = timedelta(seconds=90)
_MAX_WOKEN: Final = 10
_SEES_ALL: Final = "database.manage"


def start_job(*, kind: JobKind, post_ids: Sequence[UUID], actor: Actor) -> PostJob:
    """Publish, archive or delete posts, each by itself: one that is refused keeps no other one back.

    Few are done when this answers, many by a worker. Raises `RuleViolation` for too many, and `NotAllowed`.
    """
    actor.require_person("change many posts")
    actor.require(STEPS[kind].permission)
    if not 1 <= len(post_ids) <= MAX_POSTS:
        message = _("Select at most %(most)s posts.") % {"most": f"{MAX_POSTS:,}"}
        raise RuleViolation(message, code="too_many")
    with transaction.atomic():
        job = _new_job(kind, actor, total=len(post_ids))
        _add_items(job, post_ids)
        if job.total > MAX_IN_REQUEST:
            _send_later(job)
    return _begin(job)


def start_copy(*, post_id: UUID, actor: Actor) -> tuple[Post, PostJob]:
    """Copy a page at once, and what stands below it by a job. Raises as `copy_page` does, and for too many pages."""
    with transaction.atomic():
        copy = copy_page(post_id=post_id, actor=actor)
        below = pages_to_copy(post_id)
        if len(below) + 1 > MAX_COPIED:
            message = _("You can copy at most %(most)s pages at once.")
            raise RuleViolation(message % {"most": f"{MAX_COPIED:,}"}, code="too_many")
        job = _new_job(JobKind.COPY, actor, total=len(below) + 1, done=1, title=copy.title)
        PostJobItem.objects.create(
            job=job,
            position=0,
            post=post_id,
            made=copy.pk,
            version=copy.version,
            outcome=JobOutcome.DONE,
        )
        _add_items(job, below, first=1)
        if job.total > MAX_IN_REQUEST:
            _send_later(job)
    return copy, _begin(job)


@transaction.atomic
def cancel_job(*, job_id: UUID, actor: Actor) -> PostJob:
    """Do nothing more; what is done stays, and can be undone. Raises `Conflict` where it is over."""
    job = _lock_own(job_id, actor)
    if not job.is_running:
        raise Conflict(_("This has already finished."), code="finished")
    _end(job, JobState.CANCELLED)
    return job


def undo_job(*, job_id: UUID, actor: Actor) -> PostJob:
    """Take back what a job did, the last post first, unless a post was changed since. Raises `Conflict`.

    An undo that was cancelled, or stopped, goes on with what it had not reached.
    """
    with transaction.atomic():
        job = _lock_own(job_id, actor)
        if job.is_running:
            raise Conflict(_("This is still running. Cancel it first."), code="running")
        left = job.items.filter(outcome=JobOutcome.DONE).count()
        if job.is_undo and not left:
            raise Conflict(_("This has already been undone."), code="undone")
        if not job.is_undo:
            job.is_undo, job.total, job.done = True, left, 0
        job.state, job.why = JobState.RUNNING, ""
        job.by_id, job.by_name = actor.user.pk, actor.user.username
        job.ended_at, job.language = None, get_language() or ""
        job.save()
        if job.total > MAX_IN_REQUEST:
            _send_later(job)
    return _begin(job)


def jobs_for(actor: Actor) -> QuerySet[PostJob]:
    """The jobs that the actor may see: their own, and for who manages the database all."""
    rows = PostJob.objects.all()
    return rows if actor.can(_SEES_ALL) else rows.filter(by=actor.user.pk)


def find_job(*, job_id: UUID, actor: Actor) -> PostJob:
    """Raises `NotFound` where there is none, or it is somebody else's."""
    job = jobs_for(actor).filter(pk=job_id).first()
    if job is None:
        raise NotFound(_("Background job not found."))
    return job


def outcomes_of(job: PostJob) -> dict[str, int]:
    """How many posts came to what. One query."""
    rows = job.items.order_by().values_list("outcome").annotate(number=Count("pk"))
    return dict(rows)


def execute_job(job_id: UUID) -> None:
    """Do what is not done yet. Safe to call any number of times."""
    ends = time.monotonic() + TURN_SECONDS
    while _do_next(job_id):
        if time.monotonic() > ends:
            job = PostJob.objects.filter(pk=job_id).first()
            return _send_later(job) if job else None
    return None


def resume_jobs() -> int:
    """Go on with what a lost message or a dead worker left. Answers how many. For the sweep."""
    late = PostJob.objects.filter(
        state=JobState.RUNNING, touched_at__lt=timezone.now() - _LATE_AFTER
    )
    jobs = list(late.order_by("touched_at")[:_MAX_WOKEN])
    for job in jobs:
        job.save(update_fields=["touched_at"])
        _send_later(job)
    return len(jobs)


def forget_old_jobs(days: int = 90) -> int:
    """Delete what is over for so long. Safe to run twice."""
    old = PostJob.objects.filter(ended_at__lt=timezone.now() - timedelta(days=days))
    return old.delete()[0]


def _new_job(kind: JobKind, actor: Actor, *, total: int, done: int = 0, title: str = "") -> PostJob:
    return PostJob.objects.create(
        kind=kind,
        title=title,
        total=total,
        done=done,
        by_id=actor.user.pk,
        by_name=actor.user.username,
        language=get_language() or "",
    )


def _add_items(job: PostJob, post_ids: Sequence[UUID], first: int = 0) -> None:
    PostJobItem.objects.bulk_create(
        [
            PostJobItem(job=job, position=position, post=post_id)
            for position, post_id in enumerate(post_ids, first)
        ],
        batch_size=500,
    )


def _begin(job: PostJob) -> PostJob:
    if job.total <= MAX_IN_REQUEST:
        execute_job(job.pk)
        job.refresh_from_db()
    return job


def _lock_own(job_id: UUID, actor: Actor) -> PostJob:
    actor.require_person("change many posts")
    job = find_job(job_id=job_id, actor=actor)
    actor.require(STEPS[job.kind].permission)
    return PostJob.objects.select_for_update(of=("self",), no_key=True).get(pk=job_id)


@transaction.atomic
def _do_next(job_id: UUID) -> bool:
    """One part. Answers False where nothing is left to do."""
    running = PostJob.objects.filter(pk=job_id, state=JobState.RUNNING)
    job = running.select_related("by").select_for_update(no_key=True, of=("self",)).first()
    if job is None:
        return False
    step = STEPS[job.kind]
    with translation.override(job.language or None):
        if job.by is None or not job.by.is_active:
            why = _("The person who started this no longer has an account.")
            return _end(job, JobState.FAILED, why)
        # Read anew for each part: who lost their rights meanwhile changes nothing more.
        actor = Actor(user=job.by, via="admin")
        waits = JobOutcome.DONE if job.is_undo else JobOutcome.WAITING
        order, size = ("-position", 1) if job.is_undo else ("position", step.at_a_time)
        items = list(job.items.filter(outcome=waits).order_by(order)[:size])
        if not items:
            return _end(job, JobState.DONE)
        try:
            actor.require(step.permission)
            with transaction.atomic():
                if job.is_undo:
                    step.undo(items[0], actor)
                else:
                    step.run(job, items, actor)
        except NotAllowed as error:
            return _end(job, JobState.FAILED, error.message)
        except DATABASE_AWAY:
            raise  # it is tried again by the sweep
        except Exception as error:  # one post must not stop all others, nor be tried for ever
            why = (
                error.message
                if isinstance(error, CmsError)
                else _("Something went wrong with this post. Try it on its own, or check the log.")
            )
            if not isinstance(error, CmsError):
                logger.exception("post job %s failed at %s", job.pk, items[0].post)
            for item in items:
                item.outcome = JobOutcome.KEPT if job.is_undo else JobOutcome.REFUSED
                item.why = why
        else:
            for item in items:
                if job.is_undo and item.outcome == JobOutcome.DONE:
                    item.outcome = JobOutcome.UNDONE
    PostJobItem.objects.bulk_update(items, ["made", "version", "before", "outcome", "why"])
    job.done += len(items)
    job.save(update_fields=["done", "touched_at"])
    return True


def _end(job: PostJob, state: JobState, why: str = "") -> bool:
    job.state, job.why, job.ended_at = state, why, timezone.now()
    job.save(update_fields=["state", "why", "ended_at", "touched_at"])
    if job.by is not None:
        counts: JsonObject = {**outcomes_of(job)}
        payload: JsonObject = {"id": str(job.pk), "kind": job.kind, "state": state, **counts}
        outbox.record("posts.job-ended", actor=Actor(user=job.by, via="admin"), payload=payload)
    return False


def _send_later(job: PostJob) -> None:
    send_after_commit(
        lambda: queue_task("content.tasks.run_post_job", str(job.pk)), f"post job {job.pk}"
    )
