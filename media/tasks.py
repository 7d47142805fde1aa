"""Worker tasks for files."""

from __future__ import annotations

from celery import shared_task

from media import file_store, integrity, render_variants


@shared_task(name="media.tasks.make_variants")
def make_variants(asset_id: str, theme: str) -> bool:
    """Make the variants of an asset. Return True if this call made them."""
    return render_variants.make_variants(asset_id, theme)


@shared_task(name="media.tasks.sweep_variants")
def sweep_variants() -> int:
    """Queue due variants after lost messages, failures or killed workers, and return their number."""
    waiting = list(render_variants.due_work())
    for asset_id, theme in waiting:
        make_variants.delay(asset_id, theme)
    return len(waiting)


@shared_task(name="media.tasks.delete_files")
def delete_files() -> int:
    """Delete unused files and return their number."""
    return file_store.delete_due_files()


@shared_task(name="media.tasks.check_files")
def check_files() -> int:
    """Run requested checks of the storage and return their number."""
    return integrity.run_checks()
