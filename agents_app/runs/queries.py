"""Finds runs and their messages, and waits a short time for a run, for callers who prefer its result."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agents_app.models import AgentRun, RunMessage
from agents_app.runs.ownership import require_current_ownership
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.tools.progress import check_cancelled, report


def find_run(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """A run, for whoever may see agents. Raises `NotFound`."""
    actor.require("agents.view")
    run = find_run_or_none(run_id)
    if run is None:
        raise NotFound(_("No run has the id %(run_id)s.") % {"run_id": str(run_id)[:80]})
    return run


def find_run_or_none(run_id: UUID | str | None) -> AgentRun | None:
    """Return the run of that id; None where there is no such run, or the text is no id."""
    try:
        return AgentRun.objects.filter(pk=UUID(str(run_id))).first() if run_id else None
    except ValueError:
        return None


MAX_WAIT_SECONDS: Final = 60
_POLL_SECONDS: Final = 0.2
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
    told, steps = None, 0
    while not run.is_finished and time.monotonic() < until:
        check_cancelled()
        doing = run.doing or run.status
        if doing != told:
            report(steps, None, doing)
            told, steps = doing, steps + 1
        require_current_ownership()
        time.sleep(_POLL_SECONDS)
        run.refresh_from_db()
    return run


def run_messages(run: AgentRun, actor: Actor) -> QuerySet[RunMessage]:
    """The messages of a run, in their order. They hold whole posts and prompts, so they are for few."""
    actor.require_person("read what was said in a run")
    actor.require("agents.edit")
    return RunMessage.objects.filter(run_id=run.pk).order_by("number")
