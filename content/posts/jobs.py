"""Post jobs: start, cancel and undo a step for many posts. Small jobs run in the request, large ones in a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from content.models import JobKind, JobOutcome, JobState, Post, PostJob, PostJobItem
from content.posts.bulk_edit import BulkEdit, check_bulk_edit
from content.posts.copy import MAX_COPIED, copy_page, list_descendants_to_copy
from content.posts.job_steps import DEFECT_TEXT, STEPS
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.runner import PartRunner
from proofroom.core.errors import Conflict, NotFound, RuleViolation
from proofroom.core.json import JsonObject

MAX_POSTS: Final = 1_000
"""Maximum number of posts in one job."""
MAX_IN_REQUEST: Final = 25
"""Maximum number of posts handled in the request; larger jobs run in a worker."""
_SEES_ALL: Final = "database.manage"


class PostJobRunner(PartRunner[PostJob, PostJobItem]):
    """Runs post jobs. A refused post doesn't stop the others."""

    model = PostJob
    task: ClassVar[str] = "content.tasks.run_post_job"
    noun: ClassVar[str] = "post job"
    defect_text = DEFECT_TEXT

    def next_part(self, job: PostJob) -> list[PostJobItem]:
        if job.is_undo:
            # The undo goes backwards, so that child pages are handled before their parents.
            return list(job.items.filter(outcome=JobOutcome.DONE).order_by("-position")[:1])
        waiting = job.items.filter(outcome=JobOutcome.WAITING).order_by("position")
        return list(waiting[: STEPS[job.kind].at_a_time])

    def do_part(self, job: PostJob, part: Sequence[PostJobItem], actor: Actor) -> None:
        step = STEPS[job.kind]
        actor.require(step.permission)
        if not job.is_undo:
            step.run(job, part, actor)
        else:
            step.undo(part[0], actor)
            if part[0].outcome == JobOutcome.DONE:
                part[0].outcome = JobOutcome.UNDONE
        self._note(job, part)

    def refuse_part(self, job: PostJob, part: Sequence[PostJobItem], why: str) -> bool:
        for item in part:
            item.outcome = JobOutcome.KEPT if job.is_undo else JobOutcome.REFUSED
            item.why = why
        self._note(job, part)
        return True

    def _note(self, job: PostJob, items: Sequence[PostJobItem]) -> None:
        columns = ["made", "version", "before", "outcome", "why"]
        PostJobItem.objects.bulk_update(items, columns)
        job.done += len(items)

    def on_end(self, job: PostJob, actor: Actor | None) -> None:
        if job.by is not None:
            counts: JsonObject = {**count_job_outcomes(job)}
            payload: JsonObject = {
                "id": str(job.pk),
                "kind": job.kind,
                "state": job.state,
                **counts,
            }
            outbox.record("posts.job-ended", actor=Actor(user=job.by, via="admin"), payload=payload)


POST_JOBS: Final = PostJobRunner()


def start_job(*, kind: JobKind, post_ids: Sequence[UUID], actor: Actor) -> PostJob:
    """Start a job that changes the status of posts or deletes them. A refused post doesn't stop the others.

    Small jobs are done on return, large ones run in a worker. Raises `RuleViolation` for too many posts, and
    `NotAllowed`.
    """
    _require_selection(kind, post_ids, actor)
    with transaction.atomic():
        job = POST_JOBS.create(actor, kind=kind, total=len(post_ids))
        _add_items(job, post_ids)
    return POST_JOBS.begin(job, at_once=job.total <= MAX_IN_REQUEST)


def start_bulk_edit(
    *, edit: BulkEdit, post_ids: Sequence[UUID], actor: Actor, job_id: UUID
) -> PostJob:
    """Start a job that makes the same changes in posts. A form that is sent twice starts it once.

    `job_id`: the id that the form was made with. Raises as `start_job` and `check_bulk_edit`, and `NotFound` if the
    id is that of another user's job.
    """
    _require_selection(JobKind.EDIT, post_ids, actor)
    cleaned = check_bulk_edit(edit, actor)
    try:
        with transaction.atomic():
            job = POST_JOBS.create(
                actor, pk=job_id, kind=JobKind.EDIT, total=len(post_ids), edit=cleaned
            )
            _add_items(job, post_ids)
    except IntegrityError:
        return find_job(job_id=job_id, actor=actor)
    return POST_JOBS.begin(job, at_once=job.total <= MAX_IN_REQUEST)


def _require_selection(kind: JobKind, post_ids: Sequence[UUID], actor: Actor) -> None:
    actor.require_person("change many posts")
    actor.require(STEPS[kind].permission)
    if not 1 <= len(post_ids) <= MAX_POSTS:
        message = _("Select at most %(most)s posts.") % {"most": f"{MAX_POSTS:,}"}
        raise RuleViolation(message, code="too_many")


def start_copy(*, post_id: UUID, actor: Actor) -> tuple[Post, PostJob]:
    """Copy a page immediately and the pages below it in a job. Raises as `copy_page` does, and for too many pages."""
    with transaction.atomic():
        copy = copy_page(post_id=post_id, actor=actor)
        below = list_descendants_to_copy(post_id)
        if len(below) + 1 > MAX_COPIED:
            message = _("You can copy at most %(most)s pages at once.")
            raise RuleViolation(message % {"most": f"{MAX_COPIED:,}"}, code="too_many")
        job = POST_JOBS.create(
            actor, kind=JobKind.COPY, total=len(below) + 1, done=1, title=copy.title
        )
        PostJobItem.objects.create(
            job=job,
            position=0,
            post=post_id,
            made=copy.pk,
            version=copy.version,
            outcome=JobOutcome.DONE,
        )
        _add_items(job, below, first=1)
    return copy, POST_JOBS.begin(job, at_once=job.total <= MAX_IN_REQUEST)


def cancel_job(*, job_id: UUID, actor: Actor) -> PostJob:
    """Stop a job; finished posts stay changed and can be undone. Raises `Conflict` if it has ended."""
    _require_own(job_id, actor)
    return POST_JOBS.cancel(job_id, actor)


def undo_job(*, job_id: UUID, actor: Actor) -> PostJob:
    """Undo a job from the last post to the first, except posts changed since. Raises `Conflict`.

    An undo that was cancelled or stopped continues with the remaining posts.
    """
    with transaction.atomic():
        _require_own(job_id, actor)
        job = POST_JOBS.lock(job_id)
        if job is None:
            raise NotFound(_("Background job not found."))
        if job.is_running:
            raise Conflict(_("This is still running. Cancel it first."), code="running")
        left = job.items.filter(outcome=JobOutcome.DONE).count()
        if job.is_undo and not left:
            raise Conflict(_("This has already been undone."), code="undone")
        if not job.is_undo:
            job.is_undo, job.total, job.done = True, left, 0
        job.state, job.why, job.attempts = JobState.RUNNING, "", 0
        job.by_id, job.by_name = actor.user.pk, actor.user.username
        job.ended_at, job.language = None, get_language() or ""
        job.save()
    return POST_JOBS.begin(job, at_once=job.total <= MAX_IN_REQUEST)


def jobs_for(actor: Actor) -> QuerySet[PostJob]:
    """Return the jobs the actor may see: their own, or all with the permission to manage the database."""
    rows = PostJob.objects.all()
    return rows if actor.can(_SEES_ALL) else rows.filter(by=actor.user.pk)


def find_job(*, job_id: UUID, actor: Actor) -> PostJob:
    """Return a job. Raises `NotFound` if it doesn't exist or belongs to another user."""
    job = jobs_for(actor).filter(pk=job_id).first()
    if job is None:
        raise NotFound(_("Background job not found."))
    return job


def count_job_outcomes(job: PostJob) -> dict[str, int]:
    """Return the number of posts by outcome. One query."""
    rows = job.items.order_by().values_list("outcome").annotate(number=Count("pk"))
    return dict(rows)


def _add_items(job: PostJob, post_ids: Sequence[UUID], first: int = 0) -> None:
    PostJobItem.objects.bulk_create(
        [
            PostJobItem(job=job, position=position, post=post_id)
            for position, post_id in enumerate(post_ids, first)
        ],
        batch_size=500,
    )


def _require_own(job_id: UUID, actor: Actor) -> None:
    actor.require_person("change many posts")
    actor.require(STEPS[find_job(job_id=job_id, actor=actor).kind].permission)
