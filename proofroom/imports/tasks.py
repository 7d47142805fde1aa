"""Tasks of imports."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from proofroom.imports.run_execution import execute_run
from proofroom.imports.runs import resume_runs


@shared_task(name="imports.tasks.run_import")
def run_import(run_id: str) -> None:
    execute_run(UUID(run_id))


@shared_task(name="imports.tasks.sweep_imports")
def sweep_imports() -> int:
    """Go on with imports whose worker died or whose message was lost. Answers how many."""
    return resume_runs()
