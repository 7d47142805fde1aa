"""The kinds of background jobs. Each has a Celery task, and the sweep covers all of them.

Only `tasks.py` of apps imports this module: code that starts jobs needs Celery only when it queues one.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from celery import shared_task

from proofroom.core.background_jobs.runner import JobRunner
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.independent_steps import independent_steps

job_runners: Final[ExtensionPoint[JobRunner[Any]]] = ExtensionPoint()


def register_runner(runner: JobRunner[Any]) -> None:
    """Create the Celery task of a kind of job and add the kind to the sweep."""

    def run(job_id: str) -> None:
        runner.run_turn(UUID(job_id))

    shared_task(name=runner.task)(run)
    job_runners.register(runner, name=runner.task)


def resume_late_jobs() -> int:
    """Resume jobs of all kinds whose worker died or whose message was lost.

    Return their number. The sweep calls it.
    """
    count = 0
    with independent_steps() as step:
        for runner in job_runners:
            with step(f"resuming jobs of {runner.task}"):
                count += runner.resume_late()
    return count


def forget_old_jobs() -> int:
    """Delete jobs of all kinds that ended long ago. Return the number of rows."""
    count = 0
    with independent_steps() as step:
        for runner in job_runners:
            with step(f"forgetting jobs of {runner.task}"):
                count += runner.forget_old()
    return count
