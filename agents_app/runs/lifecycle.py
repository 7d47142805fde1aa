"""The life of a run after its creation: queueing, waiting, end, cancellation, and the sweep after a
lost worker.

The row is authoritative, messages only wake workers: the sweep repairs what a dead worker or a lost
message left. It reads rows only, and may run at any time, also concurrently.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import BoundedSemaphore, Event
from typing import Final
from uuid import UUID

from django.db import close_old_connections, connection, models, transaction
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
from content.store import lane
from content.store.scopes import require_all_written_in_scope
from proofroom.core.actor import Actor
from proofroom.core.database_notifications import is_listening, listen
from proofroom.core.errors import Conflict, NotAllowed
from proofroom.core.independent_steps import independent_steps
from proofroom.core.lane import is_lane
from proofroom.core.observability.work_ids import bind_ids
from proofroom.core.progress import check_cancelled, report
from proofroom.core.task_queue import queue_task, send_after_commit


def wake(run_id: UUID, event_id: int | None) -> None:
    """Queue a run after the commit. The sweep replaces a lost message."""

    def send() -> None:
        with bind_ids({"run_id": str(run_id), "cause_id": event_id}):
            queue_task("agents_app.tasks.run_agent", str(run_id))

    send_after_commit(send, f"run {run_id}")


def wake_next(run: AgentRun) -> None:
    """Queue the next run of the same event, which waited for this one."""
    if run.event_id is None:
        return
    following = AgentRun.objects.filter(
        event_id=run.event_id, position__gt=run.position, status=RunStatus.QUEUED
    )
    next_id = following.order_by("position").values_list("pk", flat=True).first()
    if next_id is not None:
        wake(next_id, run.event_id)


def held_back() -> models.Q:
    """Return a filter for runs whose event has an earlier unfinished run."""
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
    """End a run if its attempt is unchanged (and its heartbeat, if given). Return True if it ended."""
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
    """End a run without heartbeats. Its pending requests count as used."""
    ended = end_run(run, RunStatus.FAILED, error, silent_since=run.heartbeat_at)
    if ended:
        settle_lost(run)
    return ended


@transaction.atomic
def requeue_lost_run(run: AgentRun) -> bool:
    """Take a run from a silent worker for another attempt. The changes of the last attempt are reverted."""
    lock_posts(run)
    # Clearing the attempt keeps the worker from writing, in case it is still alive.
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
    # A heartbeat since then means that the worker is alive after all.
    return rows if silent_since is None else rows.filter(heartbeat_at=silent_since)


def lock_posts(*runs: AgentRun) -> None:
    """Lock the posts the runs wrote to. Do this before locking the runs: tools that write lock in this order."""
    written = RunPost.objects.filter(run_id__in=[run.pk for run in runs])
    ids: set[UUID] = set(written.values_list("post_id", flat=True))
    ids |= {run.post_id for run in runs if run.post_id is not None}
    if is_lane():
        lane.lock_posts(ids)
        return
    rows = Post.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids)
    # Ordered, so that two transactions lock the same posts in the same order. len() runs the
    # query, which takes the locks.
    len(rows.order_by("pk").values_list("pk"))


MAX_ERROR_CHARACTERS: Final = 1000
WAKE_AFTER: Final = timedelta(seconds=30)
MAX_WAKE_PAUSE: Final = timedelta(minutes=10)
"""Maximum pause between messages for a waiting run: without a worker the messages would fill the queue."""
SILENCE_TIMEOUT: Final = timedelta(seconds=30)
"""Six heartbeats."""
DEADLINE_GRACE: Final = timedelta(seconds=30)
MAX_ATTEMPTS: Final = 2


def sweep_runs() -> int:
    """Queue waiting runs, retry lost ones once, end overdue ones. Return the number of changed runs."""
    limit = timezone.now() - DEADLINE_GRACE
    # The worker is alive but hangs, so it could not end these runs itself.
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
        return requeue_lost_run(run)
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
    # Pauses grow with the waiting time, so that a long queue gets few messages.
    waiting = [
        (run_id, event_id)
        for run_id, event_id, created_at, queued_at in late
        if now - queued_at >= min(queued_at - created_at, MAX_WAKE_PAUSE)
    ]
    for run_id, event_id in waiting:
        wake(run_id, event_id)
    # The message may only be waiting behind others, so the next sweep must not repeat it.
    AgentRun.objects.filter(
        pk__in=[run_id for run_id, _ in waiting], status=RunStatus.QUEUED
    ).update(queued_at=now)
    return len(waiting)


@transaction.atomic
def cancel_run(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """Cancel an unfinished run. Its tools' changes are reverted, and its worker can stage nothing any
    more.

    Raises `NotAllowed` (`outside_of_scope`) if the actor may only read one of its posts.
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
    # Before the check, because its message names the current status.
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
"""Maximum number of waiting requests in a web process, so that threads stay free for other requests."""


@dataclass(slots=True)
class _WaitingLimit:
    free: BoundedSemaphore | None = field(default=None)


_limit: Final = _WaitingLimit()


def limit_waiting(most: int) -> None:
    """Limit the number of waiting requests in this process. Requests beyond it return immediately."""
    _limit.free = BoundedSemaphore(most)


def wait_for_run(run: AgentRun, seconds: float) -> AgentRun:
    """Return the run when it is finished, or when the time is over. Call it outside any transaction.

    Raises `ProviderStopped` if the calling run is stopped itself, and `CallCancelled` if the client
    cancels. Reports the activity to clients that follow the call.
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
    """Read the run on every notification and every few seconds; without notifications poll continuously."""
    woken = Event()
    # Set, so that the loop first reads the run again: it may have ended before the subscription.
    woken.set()
    subscription = listen(RUNS_CHANNEL, lambda _: woken.set(), lost=woken.set)
    reported, steps, look_at = None, 0, 0.0
    try:
        while not run.is_finished and time.monotonic() < until:
            check_cancelled()
            doing = run.doing or run.status
            if doing != reported:
                report(steps, None, doing)
                reported, steps = doing, steps + 1
            if not connection.in_atomic_block:
                # A wait of a minute must not hold a connection that other callers need.
                close_old_connections()
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
