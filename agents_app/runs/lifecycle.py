"""The life of a run after it was created: queued, waited for, ended, cancelled, and swept where its worker died.

The row is the truth and a message to a worker only a wake-up: the sweep makes good what a dead worker or a lost
message left behind. It looks at rows only, and may run at any time, twice too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import BoundedSemaphore, Event
from typing import Final
from uuid import UUID

from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.budgets.reservations import settle_abandoned, settle_lost
from agents_app.models import RUNS_CHANNEL, UNFINISHED, AgentRun, RunPost, RunStatus
from agents_app.runs.ownership import require_current_ownership
from agents_app.runs.permissions import START_PERMISSIONS
from agents_app.runs.queries import find_run
from agents_app.runs.run_log import record_run, record_run_end
from agents_app.runs.undo import take_back
from content.models import Post
from content.store.scopes import require_all_written_in_scope
from proofroom.core.actor import Actor
from proofroom.core.database_notifications import is_listening, listen
from proofroom.core.errors import Conflict, NotAllowed
from proofroom.core.independent_steps import independent_steps
from proofroom.core.observability.work_ids import bind_ids
from proofroom.core.progress import check_cancelled, report
from proofroom.core.task_queue import queue_task, send_after_commit


def wake(run_id: UUID, event_id: int | None) -> None:
    """Tell a worker of a run, after the commit. A lost message is made good by the sweep."""

    def send() -> None:
        with bind_ids({"run_id": str(run_id), "cause_id": event_id}):
            queue_task("agents_app.tasks.run_agent", str(run_id))

    send_after_commit(send, f"run {run_id}")


def wake_next(run: AgentRun) -> None:
    """Tell a worker of the run that waited for this one: the next of the same event."""
    if run.event_id is None:
        return
    following = AgentRun.objects.filter(
        event_id=run.event_id, position__gt=run.position, status=RunStatus.QUEUED
    )
    next_id = following.order_by("position").values_list("pk", flat=True).first()
    if next_id is not None:
        wake(next_id, run.event_id)


def held_back() -> models.Q:
    """Runs whose event has an earlier run that is not finished."""
    earlier = AgentRun.objects.filter(
        event_id=models.OuterRef("event_id"),
        position__lt=models.OuterRef("position"),
        status__in=UNFINISHED,
    )
    return models.Q(models.Exists(earlier))


@transaction.atomic
def end_run(
    run: AgentRun, status: RunStatus, error: str, *, silent_since: datetime | None = None
) -> bool:
    """End a run whose attempt is still the one at hand (and silent since then). Answers whether it was."""
    lock_posts(run)
    changed = _running(run, silent_since).update(
        status=status, error=error[:MAX_ERROR_CHARACTERS], doing="", finished_at=timezone.now()
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
        wake(run.pk, run.event_id)
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


MAX_ERROR_CHARACTERS: Final = 1000
WAKE_AFTER: Final = timedelta(seconds=30)
MAX_WAKE_PAUSE: Final = timedelta(minutes=10)
"""Between two messages of a run that waits for hours: while no worker takes them, they heap up in the queue."""
SILENCE_TIMEOUT: Final = timedelta(seconds=30)
"""Six heartbeats."""
DEADLINE_GRACE: Final = timedelta(seconds=30)
MAX_ATTEMPTS: Final = 2


def sweep_runs() -> int:
    """Queue again what waits, retry once what lost its worker, end what is overdue. Answers how many it touched."""
    limit = timezone.now() - DEADLINE_GRACE
    # Their worker lives and hangs: it could not end them by itself.
    overdue = AgentRun.objects.filter(status=RunStatus.RUNNING, deadline_at__lt=limit)
    silent = AgentRun.objects.filter(
        status=RunStatus.RUNNING, heartbeat_at__lt=timezone.now() - SILENCE_TIMEOUT
    )
    touched = 0
    with independent_steps() as step:
        with step("waking runs that wait"):
            touched += _wake_waiting()
        for run in overdue:
            with step(f"ending the run {run.pk}, which is overdue,"):
                touched += end_run(run, RunStatus.TIMED_OUT, "The run took too long.")
        for run in silent:
            with step(f"taking the run {run.pk} from a silent worker"):
                touched += _take_from_silent_worker(run)
        with step("settling abandoned reservations"):
            touched += settle_abandoned()
    return touched


def _take_from_silent_worker(run: AgentRun) -> bool:
    if run.attempts < MAX_ATTEMPTS:
        return queue_again(run)
    message = f"Its worker stopped in the middle, {run.attempts} times. Nothing was staged."
    return end_lost_run(run, message)


@transaction.atomic
def _wake_waiting() -> int:
    now = timezone.now()
    late = (
        AgentRun.objects.filter(status=RunStatus.QUEUED, queued_at__lt=now - WAKE_AFTER)
        .exclude(held_back())
        .values_list("pk", "event_id", "created_at", "queued_at")
    )
    # The longer it waited until the last message, the longer until the next.
    waiting = [
        (run_id, event_id)
        for run_id, event_id, created_at, queued_at in late
        if now - queued_at >= min(queued_at - created_at, MAX_WAKE_PAUSE)
    ]
    for run_id, event_id in waiting:
        wake(run_id, event_id)
    # Not again at the next sweep: the message may only be waiting behind others.
    AgentRun.objects.filter(
        pk__in=[run_id for run_id, _ in waiting], status=RunStatus.QUEUED
    ).update(queued_at=now)
    return len(waiting)


@transaction.atomic
def cancel_run(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """Stop a run that is not finished. What its tools staged goes, and its worker stages nothing any more.

    Raises `NotAllowed` (`outside_of_scope`) where the actor may only read one of its posts.
    """
    run = find_run(run_id=run_id, actor=actor)
    if actor.is_person:
        actor.require(START_PERMISSIONS.get(run.scope, "agents.edit"))
    elif run.by_id != actor.user.pk:
        raise NotAllowed(_("You can only cancel runs that you started."))
    if actor.scopes:
        written = RunPost.objects.filter(run=run).values("post")
        posts = Post.objects.filter(Q(pk=run.post_id) | Q(pk__in=written))
        require_all_written_in_scope(posts, actor)
    lock_posts(run)
    changed = AgentRun.objects.filter(pk=run.pk, status__in=UNFINISHED).update(
        status=RunStatus.CANCELLED, finished_at=timezone.now(), doing=""
    )
    run.refresh_from_db()
    if not changed:
        raise Conflict(
            _("The run is already %(status)s.") % {"status": run.status}, code="run_finished"
        )
    take_back(run)
    record_run("cancelled", run, actor)
    wake_next(run)
    return run


MAX_WAIT_SECONDS: Final = 60
_POLL_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 2.0
MAX_WAITING_IN_WEB: Final = 6
"""The most that wait at once in one web process: of its threads, some are left for everybody else."""


@dataclass(slots=True)
class _WaitingLimit:
    free: BoundedSemaphore | None = field(default=None)


_limit: Final = _WaitingLimit()


def limit_waiting(most: int) -> None:
    """From now on at most so many wait at once in this process; for others the run is answered as it stands."""
    _limit.free = BoundedSemaphore(most)


def wait_for_run(run: AgentRun, seconds: float) -> AgentRun:
    """The run as it stands when it is finished, or when the time is over. Call it outside any transaction.

    A run that waits for another stops waiting when it is stopped itself: raises `ProviderStopped`. Who follows the
    call is told what the run does, and may cancel the wait: raises `CallCancelled`.
    """
    until = time.monotonic() + min(seconds, MAX_WAIT_SECONDS)
    run.refresh_from_db()
    place = _limit.free
    if place is None:
        return _wait(run, until)
    if run.is_finished or not place.acquire(blocking=False):
        return run
    try:
        return _wait(run, until)
    finally:
        place.release()


def _wait(run: AgentRun, until: float) -> AgentRun:
    """Look when a run is said to go on, and now and then to be sure; all the time where nobody says so."""
    woken = Event()
    woken.set()
    subscription = listen(RUNS_CHANNEL, lambda _: woken.set(), lost=woken.set)
    told, steps, look_at = None, 0, 0.0
    try:
        while not run.is_finished and time.monotonic() < until:
            check_cancelled()
            doing = run.doing or run.status
            if doing != told:
                report(steps, None, doing)
                told, steps = doing, steps + 1
            if is_listening():
                is_due = woken.wait(_POLL_SECONDS) or time.monotonic() >= look_at
            else:
                time.sleep(_POLL_SECONDS)
                is_due = True
            if is_due:
                woken.clear()
                look_at = time.monotonic() + _LOOK_SECONDS
                require_current_ownership()
                run.refresh_from_db()
    finally:
        subscription.close()
    return run
