"""Tasks of imports."""

from __future__ import annotations

from celery import shared_task

from proofroom.core.background_jobs.registry import register_runner
from proofroom.core.independent_steps import independent_steps
from proofroom_apps.imports.export_schedules import start_due_exports
from proofroom_apps.imports.run_folders import remove_leftover_folders
from proofroom_apps.imports.runs import IMPORT_RUNS, delete_expired_files

register_runner(IMPORT_RUNS)


@shared_task(name="imports.tasks.sweep_imports")
def sweep_imports() -> int:
    """Delete files and folders that nothing needs any more, and start due exports. Return the number of all."""
    count = 0
    with independent_steps() as step:
        with step("deleting expired files"):
            count += delete_expired_files()
        with step("starting due exports"):
            count += start_due_exports()
        with step("removing leftover folders"):
            count += remove_leftover_folders()
    return count
