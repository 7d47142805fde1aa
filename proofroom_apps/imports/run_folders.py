"""Folders with the unpacked uploads of runs on this machine, shared by all turns of a run.

The chunks in the database are authoritative: a worker without the folder creates it again. It unpacks under a unique
name and renames the complete folder, so that other workers never see a partial one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final
from uuid import UUID
from zipfile import is_zipfile

from django.conf import settings

from proofroom.core.background_jobs.models import JobState
from proofroom_apps.imports.archives import content_folder, unpack
from proofroom_apps.imports.models import ImportRun
from proofroom_apps.imports.run_source import RunSource

_UPLOAD: Final = "upload"
_CONTENT: Final = "content"


def unpacked_upload(run: ImportRun, importer: RunSource) -> Path:
    """Return the uploaded file on this machine, or the folder of its unpacked archive. Raises `RuleViolation`."""
    folder = _root() / str(run.pk)
    if not folder.is_dir():
        _make_folder(folder, run, importer)
    content = folder / _CONTENT
    return content_folder(content) if content.is_dir() else folder / _UPLOAD


def remove_folders(run_id: UUID) -> None:
    """Remove the folder of a finished run, and leftovers of killed workers."""
    for path in _root().glob(f"{run_id}*"):
        shutil.rmtree(path, ignore_errors=True)


def remove_leftover_folders() -> int:
    """Remove the folders of finished or deleted runs. Return the number of runs that had one."""
    root = _root()
    # List the folders before reading the runs, so that a run that starts in between is not removed.
    found = set(_run_ids(path.name for path in root.iterdir())) if root.is_dir() else set()
    running = ImportRun.objects.filter(pk__in=found, state=JobState.RUNNING)
    over = found - set(running.values_list("pk", flat=True))
    for run_id in over:
        remove_folders(run_id)
    return len(over)


def _root() -> Path:
    return Path(settings.DATA_DIR) / "imports"


def _run_ids(names: Iterable[str]) -> Iterator[UUID]:
    for name in names:
        with suppress(ValueError):
            yield UUID(name.partition(".")[0])


def _make_folder(folder: Path, run: ImportRun, importer: RunSource) -> None:
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    made = Path(mkdtemp(prefix=f"{run.pk}.", dir=folder.parent))
    try:
        upload = made / _UPLOAD
        with upload.open("wb") as file:
            # A chunk has a megabyte, so only a few are in memory.
            for chunk in run.chunks.order_by("number").iterator(chunk_size=4):
                file.write(bytes(chunk.content))
            # Sync before the rename: after a power cut the folder must not contain a truncated file.
            file.flush()
            os.fsync(file.fileno())
        # A source that takes either gets the file itself, unless it is an archive of a folder.
        if importer.takes == "folder" or (importer.takes == "either" and is_zipfile(upload)):
            unpack(upload, made / _CONTENT)
            upload.unlink()
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another worker was first
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
