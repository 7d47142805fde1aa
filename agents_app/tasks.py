"""What workers do with runs."""

from __future__ import annotations

from celery import shared_task

from agents_app.running import runner
from agents_app.runs import sweep


@shared_task
def run_agent(run_id: str) -> None:
    runner.execute(run_id)


@shared_task
def sweep_runs() -> int:
    return sweep.sweep_runs()
