"""Executes evaluations in workers: one question after another, outside of any transaction."""

from __future__ import annotations

import time
from datetime import timedelta
from decimal import Decimal
from typing import ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from agents_app.definitions.agents import get_agent, unknown_agent
from agents_app.evaluation.questions import (
    StoredAnswer,
    ask_version,
    decisions_of,
    read_question,
)
from agents_app.evaluation.subjects import EvaluationSubjects, description_of, subjects_of
from agents_app.models import Evaluation, EvaluationItem, ItemState
from agents_app.replay.answers import UnusableRun
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.background_jobs.runner import JobRunner
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import Conflict
from proofroom.core.json import JsonObject

_MAX_ATTEMPTS: Final = 3
_MICRO: Final = Decimal("0.000001")


class EvaluationRunner(JobRunner[Evaluation]):
    """Runs evaluations. A question is asked only while the job runs, and by one worker at a time.

    Requests to providers must not hold a transaction, so the row is locked before and after each
    question, and the question itself is marked as running in between.
    """

    model = Evaluation
    task: ClassVar[str] = "agents_app.tasks.run_evaluation"
    noun: ClassVar[str] = "evaluation"
    finished_code: ClassVar[str] = "evaluation_finished"
    defect_text = gettext_lazy("Something went wrong; the log says what.")
    # Longer than both answers to a question may take, so that no other worker asks it again.
    late_after: ClassVar[timedelta] = timedelta(minutes=30)

    def execute(self, job_id: UUID) -> None:
        ends = time.monotonic() + self.turn_seconds
        while self.ask_next(job_id):
            if time.monotonic() > ends:
                self.send_later(job_id)
                return

    def ask_next(self, job_id: UUID) -> bool:
        """Ask one question and store its answers. Return False if nothing is left to do."""
        item = self._take_next(job_id)
        if item is None:
            return False
        job = item.evaluation
        with override(job.language or settings.LANGUAGE_CODE):
            try:
                stop = self._answer(item)
            except DATABASE_UNREACHABLE:
                raise  # the sweep resumes the job
            except Exception as error:
                self._fail(job_id, item, self.explain(job, error))
                return False
        return self._store(item, stop)

    @transaction.atomic
    def _take_next(self, job_id: UUID) -> EvaluationItem | None:
        """Mark the next question as running, and return it; None if there is none or another worker asks."""
        job = self.lock(job_id)
        if job is None or not job.is_running:
            return None
        if job.items.filter(state=ItemState.RUNNING).exists():
            return None
        waiting = job.items.filter(state=ItemState.WAITING).order_by("position")
        item = waiting.select_related("run__post").first()
        if item is None:
            self.end(job, JobState.DONE)
            return None
        item.state = ItemState.RUNNING
        item.save(update_fields=["state"])
        job.save(update_fields=["touched_at"])
        item.evaluation = job
        return item

    def _answer(self, item: EvaluationItem) -> str:
        """Fill the answers in. Return the reason if no further question can be asked, else an empty text."""
        subjects = self._subjects(item.evaluation)
        decided = decisions_of(item.run, item.decided)
        try:
            given = read_question(item.run)
        except UnusableRun as error:
            item.state, item.why = ItemState.SKIPPED, str(error)
            return ""
        left = item.evaluation.budget - item.evaluation.spent
        for name, version in (
            ("champion", subjects.champion),
            ("challenger", subjects.challenger_for(item.run)),
        ):
            answer, is_stopped = ask_version(version, decided, given, left)
            setattr(item, name, answer)
            left -= _cost(answer)
            if is_stopped:
                item.state, item.why = ItemState.LEFT, answer["error"]
                return answer["error"]
        item.state = ItemState.DONE
        return ""

    def _subjects(self, job: Evaluation) -> EvaluationSubjects:
        agent = get_agent(job.agent_id)
        if agent is None:
            raise unknown_agent(job.agent_id)
        subjects = subjects_of(job, agent)
        now = (description_of(subjects.champion), description_of(subjects.challenger))
        if now != (job.champion, job.challenger):
            # Answers of different versions would be counted as answers of one version.
            raise Conflict(_("The agent was changed while it was evaluated."), code="agent_changed")
        return subjects

    @transaction.atomic
    def _store(self, item: EvaluationItem, stop: str) -> bool:
        """Store the answers, also of a cancelled evaluation, because they were paid for."""
        job = self.lock(item.evaluation_id)
        if job is None:
            return False
        item.save(update_fields=["state", "champion", "challenger", "why"])
        spent = sum((_cost(one) for one in (item.champion, item.challenger) if one), Decimal(0))
        job.spent += spent.quantize(_MICRO)
        job.done += 1
        job.attempts = 0
        if not job.is_running:
            job.save()
            return False
        if stop:
            job.items.filter(state=ItemState.WAITING).update(state=ItemState.LEFT)
            self.end(job, JobState.DONE, stop)
            return False
        job.save()
        return True

    @transaction.atomic
    def _fail(self, job_id: UUID, item: EvaluationItem, why: str) -> None:
        item.state, item.why = ItemState.SKIPPED, why
        item.save(update_fields=["state", "why"])
        job = self.lock(job_id)
        if job is not None and job.is_running:
            self.end(job, self.failed_state, why)

    def resume(self, job: Evaluation) -> None:
        """Wake a worker for a late job. A question whose worker died is skipped: it may be paid for."""
        why = _("Its worker stopped in the middle.")
        job.items.filter(state=ItemState.RUNNING).update(state=ItemState.SKIPPED, why=why)
        if job.attempts > _MAX_ATTEMPTS:
            self.end(job, self.failed_state, why)
            return
        job.save(update_fields=["touched_at"])
        self.send_later(job.pk)

    def on_end(self, job: Evaluation, actor: Actor | None) -> None:
        by = actor or Actor(user=job.by or SYSTEM, via="admin" if job.by else "system")
        payload: JsonObject = {
            "id": str(job.pk),
            "agentId": job.agent_id,
            "state": job.state,
            "cost": float(job.spent),
        }
        outbox.record("agent.evaluation.ended", actor=by, payload=payload)


def _cost(answer: StoredAnswer) -> Decimal:
    return Decimal(str(answer["cost"]))


EVALUATIONS: Final = EvaluationRunner()
