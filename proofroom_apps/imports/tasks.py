"""Tasks of imports."""

from __future__ import annotations

from celery import shared_task

from proofroom.core.background_jobs.registry import register_runner
from proofroom_apps.imports.run_folders import remove_leftover_folders
from proofroom_apps.imports.runs import IMPORT_RUNS, delete_expired_files

register_runner(IMPORT_RUNS)


@shared_task(name="imports.tasks.sweep_imports")
def sweep_imports() -> int:
    """Delete files and folders that no import or download needs any more. Answers how many of both."""
    return delete_expired_files() + remove_leftover_folders()
