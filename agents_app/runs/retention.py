"""Retention: runs lose visitors' data together with its event, and transcripts after some days."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from agents_app.models import (
    UNFINISHED,
    AgentRun,
    EvaluationItem,
    RunMessage,
    RunReaction,
    RunStatus,
    RunStep,
)
from proofroom.core import outbox

FORGOTTEN_ERROR: Final = "The words that this run was about were deleted."
_MAX_DEPTH: Final = 10


def register_run_forgetting() -> None:
    """Connect the erasure of events to runs. Called once, at start."""
    outbox.events_forgotten.register(forget_runs)


def forget_runs(event_ids: list[int]) -> None:
    """Erase the data of these events from their runs, including retries and runs started by them.

    Called inside the transaction of the erasure. Staged changes are content and remain for people
    to decide.
    """
    runs: set[UUID] = set()
    # The runs of the events and all their consequences. Chains are short, so this takes few
    # queries.
    layer = Q(event_id__in=event_ids)
    for _ in range(_MAX_DEPTH):
        new = set(AgentRun.objects.filter(layer).values_list("pk", flat=True)) - runs
        if not new:
            break
        runs |= new
        layer = Q(cause_run_id__in=new) | Q(first_try_id__in=new)
    erase_run_texts(runs)


def erase_run_texts(runs: Collection[UUID]) -> None:
    """Erase the texts that these runs read and wrote, and cancel unfinished runs."""
    if not runs:
        return
    rows = AgentRun.objects.select_for_update(no_key=True).filter(pk__in=runs)
    # len() runs the query, which takes the locks.
    len(rows.order_by("pk").values_list("pk"))
    found = AgentRun.objects.filter(pk__in=runs)
    found.filter(status__in=UNFINISHED).update(
        status=RunStatus.CANCELLED, finished_at=timezone.now(), doing=""
    )
    found.update(context={}, open_ended_context="", note="", value=None, summary="", declined="")
    # The errors of failed runs may quote the erased data.
    found.exclude(status=RunStatus.SUCCEEDED).update(error=FORGOTTEN_ERROR)
    RunMessage.objects.filter(run_id__in=runs).delete()
    # Evaluations store the decisions and new answers to the same question.
    EvaluationItem.objects.filter(run_id__in=runs).delete()
    # The reason why an answer was refused may quote it.
    RunStep.objects.filter(run_id__in=runs, kind="model", ok=False).update(summary="")
    reactions = RunReaction.objects.filter(run_id__in=runs)
    reactions.update(summary="")
    reactions.exclude(error="").update(error=FORGOTTEN_ERROR)


_BATCH_ROWS: Final = 1000


def prune_transcripts(*, days: int) -> int:
    """Delete messages older than `days`. Return their number."""
    old = RunMessage.objects.filter(created_at__lt=timezone.now() - timedelta(days=days))
    total = 0
    while ids := list(old.order_by("created_at").values_list("pk", flat=True)[:_BATCH_ROWS]):
        gone, _ = RunMessage.objects.filter(pk__in=ids).delete()
        total += gone
    return total
