"""Executes background jobs: start, execute in parts, resume, cancel, end and delete.

Each part is a transaction that also stores its result, so that a worker may be killed at any point. The lock on the
row ensures that one worker executes a job at a time. The row holds the state; a message only wakes a worker.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import BackgroundJob, JobState
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import CmsError, Conflict, NotAllowed
from proofroom.core.independent_steps import independent_steps
from proofroom.core.task_queue import queue_task, send_after_commit

logger = logging.getLogger(__name__)
J = TypeVar("J", bound=BackgroundJob)
P = TypeVar("P")
MAX_WOKEN: Final = 10
"""Number of jobs of one kind that a sweep wakes."""
STUCK_AFTER: Final = timedelta(minutes=15)
"""Time after which a job without progress fails, if workers started it at every sweep: it may be what kills them."""


class JobRunner(ABC, Generic[J]):
    """A kind of background job, registered with `register_runner` in `tasks.py` of its app.

    `task` is the name of its Celery task, which messages in queues contain. `noun` names a job in logs. `defect_text`
    is the message users see after an unexpected error.
    """

    model: type[J]
    task: ClassVar[str]
    noun: ClassVar[str]
    failed_state: ClassVar[str] = JobState.FAILED
    finished_code: ClassVar[str] = "finished"
    defect_text: ClassVar[str | Promise]
    turn_seconds: float = 20.0
    """Longest time in seconds that a job holds a worker.

    Then it continues with a new message, so that other work gets a turn.
    """
    late_after: ClassVar[timedelta] = timedelta(seconds=90)
    keep_ended: ClassVar[timedelta] = timedelta(days=90)

    def run_turn(self, job_id: UUID) -> None:
        """Execute one turn in a worker.

        The attempt is counted first, because a turn that kills the worker cannot count itself.
        """
        running = self.model._default_manager.filter(pk=job_id, state=JobState.RUNNING)
        running.update(attempts=F("attempts") + 1)
        self.execute(job_id)

    @abstractmethod
    def execute(self, job_id: UUID) -> None:
        """Do unfinished work for one turn. Must be idempotent."""

    def on_end(self, job: J, actor: Actor | None) -> None:
        """Record the end of the job in the transaction that ends it.

        `actor` is the user who cancelled it, otherwise None.
        """

    def create(self, actor: Actor, **values: Any) -> J:
        """Store a job that the actor starts. Texts that a worker stores in it use the currently active language."""
        return self.model._default_manager.create(
            by_id=actor.user.pk,
            by_name=actor.user.username,
            language=get_language() or "",
            **values,
        )

    def begin(self, job: J, *, at_once: bool) -> J:
        """Start a stored job: in a worker, or immediately if `at_once` because it is small."""
        if at_once:
            self.execute(job.pk)
            job.refresh_from_db()
        else:
            self.send_later(job.pk)
        return job

    def send_later(self, job_id: UUID) -> None:
        """Wake a worker after the commit."""
        what = f"{self.noun} {job_id}"
        send_after_commit(lambda: queue_task(self.task, str(job_id)), what)

    def lock(self, job_id: UUID) -> J | None:
        # `of`: PostgreSQL cannot lock `by`, the nullable side of an outer join. NO KEY UPDATE, so
        # that rows that refer to the job can be inserted at the same time.
        rows = self.model._default_manager.select_for_update(no_key=True, of=("self",))
        return rows.select_related("by").filter(pk=job_id).first()

    def actor_of(self, job: J) -> Actor:
        """Return the user who started it, with current permissions. Raises `NotAllowed`."""
        if job.by is None or not job.by.is_active:
            raise NotAllowed(_("The person who started this no longer has an active account."))
        return Actor(user=job.by, via="admin")

    def explain(self, job: J, error: Exception) -> str:
        """Return the message to store for an error. Unexpected errors are logged."""
        if isinstance(error, CmsError):
            return error.message
        logger.error("%s %s failed", self.noun, job.pk, exc_info=error)
        return str(self.defect_text)

    def end(self, job: J, state: str, why: str = "", actor: Actor | None = None) -> None:
        """End a locked job."""
        job.state, job.why, job.ended_at = state, why or job.why, timezone.now()
        job.save()
        self.on_end(job, actor)

    @transaction.atomic
    def cancel(self, job_id: UUID, actor: Actor) -> J:
        """Cancel a job without undoing finished work.

        The caller checks permissions. Raises `Conflict` if it has ended.
        """
        job = self.lock(job_id)
        if job is None or not job.is_running:
            raise Conflict(_("This has already finished."), code=self.finished_code)
        self.end(job, JobState.CANCELLED, actor=actor)
        return job

    def resume_late(self) -> int:
        """Resume jobs after a lost message or a dead worker, except locked ones, which are being executed.

        Return their number.
        """
        rows = self.model._default_manager.filter(
            state=JobState.RUNNING, touched_at__lt=timezone.now() - self.late_after
        )
        # Read only the ids here: each job is locked again and resumed in its own transaction below.
        locked = rows.select_for_update(no_key=True, of=("self",), skip_locked=True)
        with transaction.atomic():
            late = list(locked.order_by("touched_at").values_list("pk", flat=True)[:MAX_WOKEN])
        resumed = 0
        with independent_steps() as step:
            for job_id in late:
                with step(f"resuming {self.noun} {job_id}"):
                    resumed += self._resume_one(locked, job_id)
        return resumed

    def _resume_one(self, locked: QuerySet[J], job_id: UUID) -> int:
        """Resume a late job, unless a worker started it in the meantime."""
        try:
            with transaction.atomic():
                job = locked.filter(pk=job_id).first()
                if job is None:
                    return 0
                with override(job.language or settings.LANGUAGE_CODE):
                    self.resume(job)
        except Exception:
            # Move it behind the others: a sweep wakes only the first few, and failing ones must not
            # block them.
            self.model._default_manager.filter(pk=job_id).update(touched_at=timezone.now())
            raise
        return 1

    def resume(self, job: J) -> None:
        """Wake a worker for a late and locked job, or end it after too many attempts.

        Messages that still wait in a queue don't count as attempts.
        """
        if job.attempts >= STUCK_AFTER // self.late_after:
            text = _("It was interrupted %(number)s times without getting any further.")
            self.end(job, self.failed_state, text % {"number": job.attempts})
            return
        job.save(update_fields=["touched_at"])
        self.send_later(job.pk)

    def forget_old(self) -> int:
        """Delete jobs that ended `keep_ended` ago. Return the number of rows. Idempotent."""
        over = self.model._default_manager.exclude(state=JobState.RUNNING)
        return over.filter(touched_at__lt=timezone.now() - self.keep_ended).delete()[0]


class PartRunner(JobRunner[J], Generic[J, P]):
    """A kind of job that is executed in parts, each in a transaction under the lock of its row."""

    @abstractmethod
    def next_part(self, job: J) -> Sequence[P]:
        """Return the input of the next transaction; empty if nothing is left."""

    @abstractmethod
    def do_part(self, job: J, part: Sequence[P], actor: Actor) -> None:
        """Do the part and store its result. `NotAllowed` ends the job."""

    def refuse_part(self, job: J, part: Sequence[P], why: str) -> bool:
        """Store that the part failed and return True to continue with the others. False ends the job."""
        return False

    def execute(self, job_id: UUID) -> None:
        ends = time.monotonic() + self.turn_seconds
        while self.execute_part(job_id):
            if time.monotonic() > ends:
                self.send_later(job_id)
                return

    @transaction.atomic
    def execute_part(self, job_id: UUID) -> bool:
        """Do one part. A failing part is not retried. Return False if nothing is left to do."""
        job = self.lock(job_id)
        if job is None or not job.is_running:
            return False
        with override(job.language or settings.LANGUAGE_CODE):
            part = self.next_part(job)
            if not part:
                self.end(job, JobState.DONE)
                return False
            try:
                actor = self.actor_of(job)
                # A savepoint: a failing part is rolled back, but its result is stored in the outer
                # transaction.
                with transaction.atomic():
                    self.do_part(job, part, actor)
            except DATABASE_UNREACHABLE:
                raise  # the sweep resumes the job
            except Exception as error:
                why = self.explain(job, error)
                if isinstance(error, NotAllowed) or not self.refuse_part(job, part, why):
                    self.end(job, self.failed_state, why)
                    return False
        # There is progress, so earlier interruptions don't count any more.
        job.attempts = 0
        job.save()
        return True
