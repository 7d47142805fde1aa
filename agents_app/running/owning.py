"""Whose a run is: the worker's that holds its attempt, until the run is cancelled, ends, or goes to another one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.db.models import QuerySet

from agents_app.models import AgentRun, RunStatus
from agents_app.providers.port import ProviderStopped
from core import events
from core.models import Event

_WRITES = (
    "post.created",
    "post.create-translation",
    "post.ai-review.save",
    "post.ai-review.approve",
    "media.uploaded",
)
"""What tools record when they write."""
_at_work: ContextVar[AgentRun | None] = ContextVar("run_at_work", default=None)


def own(run: AgentRun) -> QuerySet[AgentRun]:
    """The run, while it is still this worker's."""
    return AgentRun.objects.filter(pk=run.pk, attempt=run.attempt, status=RunStatus.RUNNING)


def require_own(run: AgentRun) -> None:
    """Raise `ProviderStopped` where the run is no longer this worker's: cancelled, over, or given to another."""
    if not own(run).exists():
        raise stopped()


def stopped() -> ProviderStopped:
    return ProviderStopped("The run was stopped.")


def require_at_work() -> None:
    """`require_own` of the run that is done here, if one is."""
    run = _at_work.get()
    if run is not None:
        require_own(run)


@contextmanager
def at_work(run: AgentRun) -> Iterator[None]:
    """In the block, whatever is written for the run stands only while the run is this worker's."""
    token = _at_work.set(run)
    try:
        yield
    finally:
        _at_work.reset(token)


def refuse_what_comes_late(event: Event) -> None:
    """Undo what a tool writes for a run that was cancelled or given to another while it was called.

    The row of the run stays locked until the tool's write stands, so that whoever ends the run finds it.
    """
    run = _at_work.get()
    if run is None or event.run_id != str(run.pk):
        return
    row = _locked(run.pk)
    # It is `succeeded` already where its own answer is staged, in that very transaction.
    if row is None or row != (run.attempt, row[1]) or row[1] not in _STANDS:
        raise stopped()


_STANDS = (RunStatus.RUNNING, RunStatus.SUCCEEDED)


def _locked(run_id: UUID) -> tuple[UUID | None, str] | None:
    rows = AgentRun.objects.select_for_update(no_key=True).filter(pk=run_id)
    return rows.values_list("attempt", "status").first()


def connect() -> None:
    """Look at every write of a run. Called once, at start."""
    events.subscribe_inside(_WRITES, refuse_what_comes_late)
