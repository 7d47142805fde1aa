"""The kinds of background jobs: each has a Celery task, and the sweep goes through all.

Only `tasks.py` of apps imports this, since whoever starts jobs needs no Celery until one is queued.
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
    """Make the Celery task of a kind of job, and have the sweep resume and forget its jobs."""

    def run(job_id: str) -> None:
        runner.take_up(UUID(job_id))

    shared_task(name=runner.task)(run)
    job_runners.register(runner, name=runner.task)


def resume_late_jobs() -> int:
    """Go on with jobs of every kind whose worker died or whose message was lost. Returns how many. For the sweep."""
    count = 0
    with independent_steps() as step:
        for runner in job_runners:
            with step(f"resuming jobs of {runner.task}"):
                count += runner.resume_late()
    return count


def forget_old_jobs() -> int:
    """Delete the jobs of every kind that ended long ago. Returns how many rows."""
    count = 0
    with independent_steps() as step:
        for runner in job_runners:
            with step(f"forgetting jobs of {runner.task}"):
                count += runner.forget_old()
    return count
