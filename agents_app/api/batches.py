"""`/api/agent-batches`: one agent on many posts."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.api.agents import RejectedPostAnswer
from agents_app.batches.lifecycle import cancel_batch, revert_batch
from agents_app.batches.queries import (
    BatchProgress,
    batches,
    find_batch,
    progress_of,
    progress_of_all,
)
from agents_app.models import AgentBatch, RunStatus
from agents_app.presenters import RunState, UsageAnswer, usage_answer
from proofroom.core.api.answer import Answer, MetaAnswer, PersonAnswer, TextOrNull
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet

STATUS_FIELDS: Final = {
    RunStatus.QUEUED: "queued",
    RunStatus.RUNNING: "running",
    RunStatus.SUCCEEDED: "succeeded",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "cancelled",
    RunStatus.TIMED_OUT: "timed_out",
}


class BatchProgressAnswer(Answer):
    """Numbers of posts of a batch, by the status of the latest try."""

    total: int
    finished: int
    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int
    timed_out: int


class BatchEstimateAnswer(Answer):
    """The estimated tokens and US dollars of a batch."""

    input_tokens: int
    output_tokens: int
    cost: float | None
    most_cost: float | None


class BatchRevertAnswer(Answer):
    """The progress of reverting a batch: `runs` are done."""

    asked_at: datetime
    finished_at: datetime | None
    runs: int


class BatchInListAnswer(Answer):
    """A batch."""

    id: UUID
    agent_id: str
    by: PersonAnswer
    created_at: datetime
    cancelled_at: datetime | None
    is_finished: bool
    progress: BatchProgressAnswer
    usage: UsageAnswer
    cost: float | None
    estimate: BatchEstimateAnswer | None
    revert: BatchRevertAnswer | None


class BatchResultAnswer(Answer):
    """The result for one post: its latest try."""

    post_id: UUID | None
    title: str
    run_id: UUID
    status: RunState
    staged: int = Field(description="The paths of the changes it proposed.")
    summary: str
    error: TextOrNull
    doing: str
    tries: int


class RunTakenBackAnswer(Answer):
    """The paths changed by reverting one run, or the reason why it failed."""

    run_id: UUID
    reverted: list[str]
    kept: list[str]
    unstaged: list[str]
    error: TextOrNull


class BatchAnswer(BatchInListAnswer):
    """A batch, with the result of each post."""

    rejected: list[RejectedPostAnswer]
    results: list[BatchResultAnswer]
    reverted: list[RunTakenBackAnswer]


class BatchListAnswer(Answer):
    """Batches, latest first."""

    data: list[BatchInListAnswer]
    meta: MetaAnswer


def batch_in_list(batch: AgentBatch, progress: BatchProgress) -> BatchInListAnswer:
    """Return a batch as it appears in lists."""
    counts = {name: progress.by_status.get(key, 0) for key, name in STATUS_FIELDS.items()}
    revert = None
    if batch.revert_asked_at is not None:
        revert = BatchRevertAnswer(
            asked_at=batch.revert_asked_at,
            finished_at=batch.reverted_at,
            runs=len(batch.reverted),
        )
    return BatchInListAnswer(
        id=batch.pk,
        agent_id=batch.agent_id,
        by=PersonAnswer(id=batch.by_id, username=batch.by_name),
        created_at=batch.created_at,
        cancelled_at=batch.cancelled_at,
        is_finished=progress.is_finished,
        progress=BatchProgressAnswer(total=progress.total, finished=progress.finished, **counts),
        usage=usage_answer(progress.input_tokens, progress.output_tokens, progress.cached_tokens),
        cost=float(progress.cost) if progress.cost is not None else None,
        estimate=BatchEstimateAnswer.model_validate(batch.estimate) if batch.estimate else None,
        revert=revert,
    )


def answer_batch(batch: AgentBatch) -> Response:
    progress = progress_of(batch)
    answer = BatchAnswer(
        **dict(batch_in_list(batch, progress)),
        rejected=[RejectedPostAnswer.model_validate(post) for post in batch.rejected],
        results=[BatchResultAnswer.model_validate(result) for result in progress.results],
        reverted=[
            RunTakenBackAnswer(
                run_id=run_id,
                reverted=undone.get("reverted", []),
                kept=undone.get("kept", []),
                unstaged=undone.get("unstaged", []),
                error=undone.get("error"),
            )
            for run_id, undone in batch.reverted.items()
        ],
    )
    return Response(answer)


class BatchViewSet(ApiViewSet):
    """Batches: list, read, cancel, revert."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "agents.view",
        "retrieve": "agents.view",
        "cancel": "agents.edit",
        "revert": "agents.edit",
    }

    @extend_schema(parameters=PAGES, responses=BatchListAnswer)
    def list(self, request: Request) -> Response:
        """Batches with their progress, latest first."""
        page = page_of(request)
        found = batches(self.actor)
        rows = list(found[page.slice])
        progress = progress_of_all(rows)
        data = [batch_in_list(row, progress[row.pk]) for row in rows]
        return Response(page.envelope(data, found.count()))

    @extend_schema(responses=BatchAnswer)
    def retrieve(self, request: Request, batch_id: str) -> Response:
        """A batch, with the result of each post."""
        return answer_batch(find_batch(batch_id=batch_id, actor=self.actor))

    @extend_schema(request=None, responses={200: BatchAnswer})
    def cancel(self, request: Request, batch_id: str) -> Response:
        """Cancel all unfinished runs of a batch."""
        return answer_batch(cancel_batch(batch_id=batch_id, actor=self.actor))

    @extend_schema(request=None, responses={200: BatchAnswer})
    def revert(self, request: Request, batch_id: str) -> Response:
        """Start reverting a batch; read it again to see the result of each run.

        Also needs `posts.revisions.manage`.
        """
        batch = revert_batch(batch_id=batch_id, actor=self.actor)
        batch.refresh_from_db()
        return answer_batch(batch)
