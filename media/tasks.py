"""Tasks of workers for files."""

from __future__ import annotations

from celery import shared_task

from media import file_store, integrity, render_variants


@shared_task(name="media.tasks.make_variants")
def make_variants(asset_id: str, theme: str) -> bool:
    """Make the variants of an asset; answers whether they were made here."""
    return render_variants.make_variants(asset_id, theme)


@shared_task(name="media.tasks.sweep_variants")
def sweep_variants() -> int:
    """Queue what a lost message, a failure or a worker that ended left to be made. Answers how many."""
    waiting = list(render_variants.due_work())
    for asset_id, theme in waiting:
        make_variants.delay(asset_id, theme)
    return len(waiting)


@shared_task(name="media.tasks.delete_files")
def delete_files() -> int:
    """Delete the files that nothing uses any more. Answers how many."""
    return file_store.delete_due()


@shared_task(name="media.tasks.check_files")
def check_files() -> int:
    """Do the checks of the storage that people asked for. Answers how many."""
    return integrity.run_checks()
