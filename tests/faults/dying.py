"""Points at which a process that executes a run kills itself, if the run's context requests it."""

from __future__ import annotations

import os
import signal
from typing import Any, Final

from agents_app.models import AgentRun

POINTS: Final = (
    "claimed",
    "before the first request",
    "while the model streams",
    "in a tool, after it staged",
    "before the final staging",
    "staged, and not yet committed",
    "after the commit",
)


def connect() -> None:
    """Connect the points. Called once at the start of every process of the site."""
    # Loaded once, not again in each child that follows a dead one.
    import pydantic_ai.models.openai  # noqa: F401

    import agents_app.providers.model_conversation  # noqa: F401
    from agents_app.runs import execution, run_log

    watcher = run_log.RunWatcher
    for point, owner, name, is_after in (
        ("claimed", execution, "prepare_attempt", False),
        ("before the first request", watcher, "before_request", False),
        ("while the model streams", watcher, "heard", False),
        ("in a tool, after it staged", execution, "add_step", False),
        ("before the final staging", execution, "finish_run", False),
        ("staged, and not yet committed", execution, "record_run_end", False),
        ("after the commit", execution, "finish_run", True),
    ):
        _kill_at(point, owner, name, is_after)


def _kill_at(point: str, owner: Any, name: str, is_after: bool) -> None:
    real = getattr(owner, name)

    def mortal(first: Any, *args: Any, **given: Any) -> Any:
        run = first if isinstance(first, AgentRun) else getattr(first, "run", None) or first._run
        dies = run.context.get("killAt") == point and run.attempts == 1
        answer = real(first, *args, **given) if is_after or not dies else None
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(owner, name, mortal)
