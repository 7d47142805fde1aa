"""Ownership of runs: a worker with the attempt owns a run until it is cancelled, ended, or taken over."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Final

from django.db import Error, connection
from django.db.models import QuerySet
from django.utils import timezone

from agents_app.models import AgentRun, RunStatus
from agents_app.providers.interface import ProviderStopped
from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.core.observability.background_loop import BackgroundLoop

_WRITE_EVENTS = (
    "post.created",
    "post.create-translation",
    "post.ai-review.save",
    "post.ai-review.approve",
    "media.uploaded",
)
"""Events recorded by tools that write."""
_current_run: ContextVar[AgentRun | None] = ContextVar("run_at_work", default=None)


def owned_rows(run: AgentRun) -> QuerySet[AgentRun]:
    """Return the run's row if this worker still owns it."""
    return AgentRun.objects.filter(pk=run.pk, attempt=run.attempt, status=RunStatus.RUNNING)


def require_ownership(run: AgentRun) -> None:
    """Raise `ProviderStopped` if this worker no longer owns the run: cancelled, ended or taken over."""
    if not owned_rows(run).exists():
        raise run_stopped()


def run_stopped() -> ProviderStopped:
    return ProviderStopped("The run was stopped.")


def require_current_ownership() -> None:
    """Call `require_ownership` for the run executed in this context, if any."""
    run = _current_run.get()
    if run is not None:
        require_ownership(run)


def executing_run() -> AgentRun | None:
    """Return the run executed in this context, if any."""
    return _current_run.get()


@contextmanager
def current_run(run: AgentRun) -> Iterator[None]:
    """In the block, writes for the run succeed only while this worker owns it."""
    token = _current_run.set(run)
    try:
        yield
    finally:
        _current_run.reset(token)


def refuse_late_write(event: Event) -> None:
    """Roll back a tool's write for a run that was cancelled or taken over during the call.

    The row of the run stays locked until the write is committed, so that the code that ends the run
    sees the write.
    """
    run = _current_run.get()
    if run is None or event.run_id != str(run.pk):
        return
    locked = AgentRun.objects.select_for_update(no_key=True).filter(pk=run.pk)
    row = locked.values_list("attempt", "status").first()
    # Staging the run's own answer happens after setting `succeeded`, in the same transaction.
    if row is None or row != (run.attempt, row[1]) or row[1] not in _WRITABLE_STATUSES:
        raise run_stopped()


_WRITABLE_STATUSES = (RunStatus.RUNNING, RunStatus.SUCCEEDED)


def register_write_guard() -> None:
    """Check every write of a run. Called once, at start."""
    outbox.subscribe_in_transaction(_WRITE_EVENTS, refuse_late_write)


logger = logging.getLogger(__name__)
BEAT_SECONDS: Final = 5.0


class Heartbeat:
    """`with Heartbeat(run) as beat:` updates `heartbeat_at` from a separate thread.

    When the attempt has lost the run (cancelled, or taken over by the sweep), `is_lost` is set and
    `on_lost` is called once.
    """

    def __init__(self, run: AgentRun, *, every: float | None = None) -> None:
        self.is_lost = False
        self.on_lost: Callable[[], None] | None = None
        self._own = {"pk": run.pk, "attempt": run.attempt, "status": RunStatus.RUNNING}
        self._every = BEAT_SECONDS if every is None else every
        self._ended = threading.Event()
        self._thread = BackgroundLoop("heartbeat", self._beat, detail=f"-{run.pk}")

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> bool:
        """Wait and update. Return False when the run has ended or is lost."""
        try:
            if self._ended.wait(self._every):
                return False
            if not self._is_ours():
                self.is_lost = True
                if self.on_lost is not None:
                    self.on_lost()
                return False
        finally:
            # The thread's connection is closed after each beat, so that it occupies none in
            # between.
            connection.close()
        return True

    def _is_ours(self) -> bool:
        try:
            changed = AgentRun.objects.filter(**self._own).update(heartbeat_at=timezone.now())
        except Error:
            # One missed heartbeat is harmless, because the sweep waits for several.
            logger.warning("cannot store the heartbeat of run %s", self._own["pk"], exc_info=True)
            return True
        return bool(changed)
