"""Makes good what a dead worker or a lost message left behind. Looks at rows only; may run at any time, twice too."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from agents_app.budgets.reserving import settle_abandoned
from agents_app.models import AgentRun, RunStatus
from agents_app.running.ending import end_lost_run, end_run, queue_again
from agents_app.runs.queue import held_back, wake

QUEUED_TOO_LONG: Final = timedelta(seconds=30)
SELDOM: Final = timedelta(minutes=10)
"""Between two messages of a run that waits for hours: while no worker takes them, they heap up in the queue."""
SILENT_TOO_LONG: Final = timedelta(seconds=30)
"""Six heartbeats."""
OVERDUE: Final = timedelta(seconds=30)
ATTEMPTS_MAX: Final = 2


def sweep_runs() -> int:
    """Queue again what waits, retry once what lost its worker, end what is overdue. Answers how many it touched."""
    return _wake_waiting() + _end_overdue() + _take_from_the_dead() + settle_abandoned()


@transaction.atomic
def _wake_waiting() -> int:
    now = timezone.now()
    late = (
        AgentRun.objects.filter(status=RunStatus.QUEUED, queued_at__lt=now - QUEUED_TOO_LONG)
        .exclude(held_back())
        .values_list("pk", "created_at", "queued_at")
    )
    # The longer it waited until the last message, the longer until the next.
    waiting = [
        run_id
        for run_id, created_at, queued_at in late
        if now - queued_at >= min(queued_at - created_at, SELDOM)
    ]
    for run_id in waiting:
        wake(run_id)
    # Not again at the next sweep: the message may only be waiting behind others.
    AgentRun.objects.filter(pk__in=waiting, status=RunStatus.QUEUED).update(queued_at=now)
    return len(waiting)


def _end_overdue() -> int:
    """Runs whose worker lives and hangs: it could not end them by itself."""
    limit = timezone.now() - OVERDUE
    overdue = AgentRun.objects.filter(status=RunStatus.RUNNING, deadline_at__lt=limit)
    return sum(end_run(run, RunStatus.TIMED_OUT, "The run took too long.") for run in overdue)


def _take_from_the_dead() -> int:
    silent = AgentRun.objects.filter(
        status=RunStatus.RUNNING, heartbeat_at__lt=timezone.now() - SILENT_TOO_LONG
    )
    touched = 0
    for run in silent:
        if run.attempts < ATTEMPTS_MAX:
            touched += queue_again(run)
        else:
            message = f"Its worker stopped in the middle, {run.attempts} times. Nothing was staged."
            touched += end_lost_run(run, message)
    return touched
