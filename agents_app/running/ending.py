"""The ends of a run that brings nothing: whatever its tools staged goes in the same transaction."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents_app.budgets.reserving import settle_lost
from agents_app.models import AgentRun, RunPost, RunStatus
from agents_app.running.steps import SUMMARY_MAX
from agents_app.running.takeback import take_back
from agents_app.runs.events import record_run_end
from agents_app.runs.queue import wake, wake_next
from content.models import Post


@transaction.atomic
def end_run(
    run: AgentRun, status: RunStatus, error: str, *, silent_since: datetime | None = None
) -> bool:
    """End a run whose attempt is still the one at hand (and silent since then). Answers whether it was."""
    lock_posts(run)
    changed = _running(run, silent_since).update(
        status=status, error=error[:SUMMARY_MAX], doing="", finished_at=timezone.now()
    )
    if not changed:
        return False
    run.status = status
    take_back(run)
    record_run_end(run)
    wake_next(run)
    return True


@transaction.atomic
def end_lost_run(run: AgentRun, error: str) -> bool:
    """End a run that is silent: whatever it had under way counts as used."""
    ended = end_run(run, RunStatus.FAILED, error, silent_since=run.heartbeat_at)
    if ended:
        settle_lost(run)
    return ended


@transaction.atomic
def queue_again(run: AgentRun) -> bool:
    """Take a run from a worker that is silent, for another attempt. Nothing of the last one stays."""
    lock_posts(run)
    # The attempt goes, so that the worker, if it still lives somewhere, can write nothing.
    changed = _running(run, run.heartbeat_at).update(
        status=RunStatus.QUEUED, attempt=None, doing="", queued_at=timezone.now()
    )
    if changed:
        take_back(run)
        settle_lost(run)
        wake(run.pk)
    return bool(changed)


def _running(run: AgentRun, silent_since: datetime | None) -> QuerySet[AgentRun]:
    rows = AgentRun.objects.filter(pk=run.pk, attempt=run.attempt, status=RunStatus.RUNNING)
    return rows if silent_since is None else rows.filter(heartbeat_at=silent_since)


def lock_posts(*runs: AgentRun) -> None:
    """Lock what the runs wrote in, before their own rows: tools that write lock the post first, and the row last."""
    written = RunPost.objects.filter(run_id__in=[run.pk for run in runs])
    ids: set[UUID] = set(written.values_list("post_id", flat=True))
    ids |= {run.post_id for run in runs if run.post_id is not None}
    rows = Post.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids)
    len(rows.order_by("pk").values_list("pk"))
