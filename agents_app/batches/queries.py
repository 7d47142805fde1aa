"""Batches, their progress, and the result of each post."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agents_app.models import UNFINISHED, AgentBatch, AgentRun
from agents_app.runs.scopes import visible_batches
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound

_COLUMNS = (
    "pk",
    "batch_id",
    "post_id",
    "post__title",
    "post__deleted_at",
    "status",
    "staged",
    "error",
    "summary",
    "declined",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cost",
    "doing",
)


@dataclass(frozen=True, slots=True)
class PostResult:
    """The latest try at one post of a batch. `summary`: the reason if it declined."""

    run_id: UUID
    post_id: UUID | None
    title: str
    status: str
    staged: int
    error: str
    summary: str
    doing: str
    tries: int
    is_declined: bool = False


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of a batch, by the latest try at each post. Tokens and cost include all tries."""

    results: Sequence[PostResult] = ()
    by_status: Mapping[str, int] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: Decimal | None = None

    @property
    def total(self) -> int:
        return len(self.results)

    @property
    def finished(self) -> int:
        return self.total - sum(self.by_status.get(status, 0) for status in UNFINISHED)

    @property
    def is_finished(self) -> bool:
        return self.finished == self.total


def batches(actor: Actor) -> QuerySet[AgentBatch]:
    """Return all batches the actor may see, latest first. Raises `NotAllowed` without `agents.view`."""
    actor.require("agents.view")
    rows = AgentBatch.objects.order_by("-created_at", "pk")
    return visible_batches(rows, actor, actor.user.pk)


def find_batch(*, batch_id: UUID | str, actor: Actor) -> AgentBatch:
    """Return a batch. Raises `NotFound`, or `NotAllowed` without `agents.view`."""
    actor.require("agents.view")
    batch = find_by_id(batches(actor), batch_id)
    if batch is None:
        raise NotFound(_("No batch has the ID %(batch_id)s.") % {"batch_id": batch_id})
    return batch


def progress_of(batch: AgentBatch) -> BatchProgress:
    """Return the progress of a batch. One query."""
    return progress_of_all([batch])[batch.pk]


def progress_of_all(found: Iterable[AgentBatch]) -> dict[UUID, BatchProgress]:
    """Return the progress of each batch. One query."""
    tries: dict[UUID, list[AgentRun]] = {batch.pk: [] for batch in found}
    rows = AgentRun.objects.filter(batch_id__in=tries).select_related("post")
    columns = [name for name in _COLUMNS if name != "pk"]
    for run in rows.only(*columns).order_by("created_at", "pk"):
        if run.batch_id is not None:
            tries[run.batch_id].append(run)
    return {batch_id: _progress(runs) for batch_id, runs in tries.items()}


def _progress(runs: Sequence[AgentRun]) -> BatchProgress:
    by_post: dict[UUID | None, list[AgentRun]] = {}
    for run in runs:
        # Retries of a post are in the same batch; runs are ordered by time, so the last one is the
        # latest.
        by_post.setdefault(run.post_id, []).append(run)
    results: list[PostResult] = []
    for tries in by_post.values():
        latest = tries[-1]
        # The titles of posts in the trash are visible only with other permissions.
        is_there = latest.post is not None and latest.post.deleted_at is None
        results.append(
            PostResult(
                run_id=latest.pk,
                post_id=latest.post_id,
                title=latest.post.title if latest.post is not None and is_there else "",
                status=latest.status,
                staged=len(latest.staged),
                error=latest.error,
                summary=latest.declined or latest.summary,
                doing=latest.doing,
                tries=len(tries),
                is_declined=bool(latest.declined),
            )
        )
    costs = [run.cost for run in runs if run.cost is not None]
    return BatchProgress(
        results=results,
        by_status=Counter(result.status for result in results),
        input_tokens=sum(run.input_tokens for run in runs),
        output_tokens=sum(run.output_tokens for run in runs),
        cached_tokens=sum(run.cached_tokens for run in runs),
        cost=sum(costs, Decimal(0)) if costs else None,
    )
