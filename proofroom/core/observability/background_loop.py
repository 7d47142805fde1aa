"""Threads that repeat a task as long as their process lives, whatever errors occur."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from platform import node
from threading import Thread
from typing import Final

from django.core.cache import cache
from django.utils import timezone

from proofroom.core.observability.operations import (
    MeasuredOperation,
    OperationKind,
    operation_ended,
)

logger = logging.getLogger(__name__)
LOOPS: Final = ("answer-watch", "heartbeat", "metrics", "notifications", "wake-ups")
"""The names of all loops' threads."""
PAUSE_SECONDS: Final = 1.0
REMEMBERED_SECONDS: Final = 86_400


class BackgroundLoop:
    """A daemon thread that repeats a turn until it returns False.

    An error ends the turn, never the loop. The first error of each kind is logged. Every error is counted in the
    metrics as a failed task, and `doctor` shows the last one of each loop for a day.
    """

    def __init__(self, name: str, turn: Callable[[], bool], *, detail: str = "") -> None:
        if name not in LOOPS:
            raise ValueError(f"{name!r} is not in LOOPS, where doctor looks")
        self.name = name
        self._turn = turn
        self._logged: set[str] = set()
        self._thread = Thread(target=self._run, name=f"{name}{detail}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def join(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            try:
                if not self._turn():
                    return
            except Exception as error:
                with suppress(Exception):  # reporting may need the very service that is down
                    self._note(error)
                time.sleep(PAUSE_SECONDS)

    def _note(self, error: Exception) -> None:
        kind = type(error).__qualname__
        if kind not in self._logged:
            self._logged.add(kind)
            logger.error("thread %s continues after an error", self.name, exc_info=error)
        task = f"thread {self.name}"
        operation_ended(MeasuredOperation(OperationKind.TASK, task, outcome="failed"))
        where = f"{node()}, process {os.getpid()}"
        failure = {"error": kind, "where": where, "at": timezone.now().isoformat()}
        cache.set(_key(self.name), failure, REMEMBERED_SECONDS)


def failed_loops() -> dict[str, dict[str, str]]:
    """Return the last error of each loop within a day: its kind, place and time."""
    found = cache.get_many([_key(name) for name in LOOPS])
    return {name: found[_key(name)] for name in LOOPS if _key(name) in found}


def _key(name: str) -> str:
    return f"background-loop:{name}"
