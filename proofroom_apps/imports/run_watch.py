"""Stores a run's progress and detects its cancellation during one long transaction."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from uuid import UUID

from django.db import connection, connections
from django.utils import timezone

from proofroom.core.background_jobs.models import JobState
from proofroom_apps.imports.models import ImportRun

_INTERVAL: Final = 1.0


class RunCancelled(Exception):
    """Raised if the run was cancelled, or another worker ended it."""


class RunWatch:
    """Call it often; once a second it stores `done` and `planned`. Raises `RunCancelled`.

    In a transaction it uses a separate connection, so that other processes see the progress. On SQLite a transaction
    blocks all other writers, so nothing is stored, and no cancellation detected, before its end.
    """

    def __init__(self, run_id: UUID, claim: int | None = None) -> None:
        """With a `claim`, the run counts as cancelled for this worker after another one has claimed it."""
        self.run_id, self.claim = run_id, claim
        self.done = self.planned = 0
        self._last = time.monotonic()

    def __call__(self) -> None:
        if time.monotonic() - self._last < _INTERVAL:
            return
        if not connection.in_atomic_block:
            is_running = self._store()
        # Django's connections are per thread, so a thread gets a second one outside of the transaction.
        elif connection.vendor == "postgresql":
            with ThreadPoolExecutor(1) as other:
                is_running = other.submit(self._store_and_close).result()
        else:
            return
        self._last = time.monotonic()
        if not is_running:
            raise RunCancelled

    def _store(self) -> bool:
        run = ImportRun.objects.filter(pk=self.run_id, state=JobState.RUNNING)
        if self.claim is not None:
            run = run.filter(position=self.claim)
        return bool(
            run.update(
                done=min(self.done, self.planned), planned=self.planned, touched_at=timezone.now()
            )
        )

    def _store_and_close(self) -> bool:
        try:
            return self._store()
        finally:
            connections.close_all()
