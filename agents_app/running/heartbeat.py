"""A sign of life while a run waits for its provider, and the way a worker learns that it lost the run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Final

from django.db import Error, connection
from django.utils import timezone

from agents_app.models import AgentRun, RunStatus

logger = logging.getLogger(__name__)
BEAT_SECONDS: Final = 5.0


class Heartbeat:
    """`with Heartbeat(run) as beat:` writes `heartbeat_at` from a thread of its own.

    When the run is no longer this attempt's (cancelled, or taken over by the sweep) `is_lost` is set and
    `on_lost`, where there is one, is called once.
    """

    def __init__(self, run: AgentRun, *, every: float | None = None) -> None:
        self.is_lost = False
        self.on_lost: Callable[[], None] | None = None
        self._own = {"pk": run.pk, "attempt": run.attempt, "status": RunStatus.RUNNING}
        self._every = BEAT_SECONDS if every is None else every
        self._ended = Event()
        self._thread = Thread(target=self._beat, name=f"heartbeat-{run.pk}", daemon=True)

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

    def _beat(self) -> None:
        try:
            while not self._ended.wait(self._every):
                if not self._is_ours():
                    self.is_lost = True
                    if self.on_lost is not None:
                        self.on_lost()
                    return
        finally:
            connection.close()

    def _is_ours(self) -> bool:
        try:
            changed = AgentRun.objects.filter(**self._own).update(heartbeat_at=timezone.now())
        except Error:
            # A beat that is missed is no reason to give up; the sweep waits for several.
            logger.warning(
                "could not write the heartbeat of run %s", self._own["pk"], exc_info=True
            )
            return True
        return bool(changed)
