"""Waits a little for a run, for callers who would rather have the result than an address."""

from __future__ import annotations

import time
from typing import Final

from agents_app.models import AgentRun
from agents_app.running.owning import require_at_work

WAIT_MAX: Final = 60
_PAUSE: Final = 0.2


def wait_for(run: AgentRun, seconds: float) -> AgentRun:
    """The run as it stands when it is finished, or when the time is over. Call it outside any transaction.

    A run that waits for another stops waiting when it is stopped itself: raises `ProviderStopped`.
    """
    until = time.monotonic() + min(seconds, WAIT_MAX)
    run.refresh_from_db()
    while not run.is_finished and time.monotonic() < until:
        require_at_work()
        time.sleep(_PAUSE)
        run.refresh_from_db()
    return run
