"""Compares rows with the storage, to find missing files and files without a row.

Works folder by folder, so at most the names of one of 256 folders are in memory, and lists only the first
findings. Takes as long as the storage needs to list its files, so it runs in a worker.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from media.models import FileCheck, StoredFile
from proofroom.core import progress
from proofroom.core.actor import Actor
from proofroom.core.task_queue import queue_task, send_after_commit

logger = logging.getLogger(__name__)
MAX_FILES_LISTED: Final = 200
"""Maximum number of findings listed; others are only counted."""
_CHECKS_KEPT: Final = 20
_MAX_DURATION: Final = timedelta(hours=2)
"""Time after which an unfinished check counts as lost."""
Missing = tuple[str, str]


@dataclass(slots=True)
class IntegrityReport:
    """The result of a check. `missing`: pairs of asset id and file name; `orphaned`: file names. Both
    hold the first findings only."""

    checked: int = 0
    missing_count: int = 0
    orphaned_count: int = 0
    missing: list[Missing] = field(default_factory=list)
    orphaned: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not self.missing_count and not self.orphaned_count

    def add_missing(self, asset_id: object, name: str) -> None:
        self.missing_count += 1
        if len(self.missing) < MAX_FILES_LISTED:
            self.missing.append((str(asset_id), name))

    def add_orphaned(self, name: str) -> None:
        self.orphaned_count += 1
        if len(self.orphaned) < MAX_FILES_LISTED:
            self.orphaned.append(_storable(name))


def _storable(name: str) -> str:
    """Return the name as valid text. Files put there by others may have names that aren't valid UTF-8."""
    return name.encode("utf-8", "replace").decode()


def check(asset_id: UUID | str | None = None) -> IntegrityReport:
    """Compare rows and storage, of one asset, or of all assets and then including orphans."""
    report = IntegrityReport()
    if asset_id is not None:
        for row in _in_use().filter(asset_id=asset_id).order_by("name"):
            report.checked += 1
            if not default_storage.exists(row.name):
                report.add_missing(row.asset_id, row.name)
        return report
    names = StoredFile.objects.filter(is_deleted=False).values_list("name", flat=True)
    folders = sorted(
        {folder for folder, _ in _folders()}
        | {name.rpartition("/")[0] for name in names.iterator(chunk_size=2000)}
    )
    for number, folder in enumerate(folders):
        # A large storage takes long, so the caller may cancel between folders.
        progress.check_cancelled()
        progress.report(number, len(folders), f"{report.checked} files checked")
        _compare_folder(folder, report)
    return report


def _in_use() -> QuerySet[StoredFile]:
    return StoredFile.objects.filter(due_at=None, is_deleted=False, asset__isnull=False)


def _folders(path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield every folder of the storage with its files, recursively."""
    inside, files = _list(path)
    yield path, files
    for name in inside:
        yield from _folders(f"{path}/{name}" if path else name)


def _list(path: str) -> tuple[list[str], list[str]]:
    """Return the folders and files in a folder. An unreadable one, such as `lost+found`, counts as empty."""
    try:
        inside, files = default_storage.listdir(path)
    except FileNotFoundError:  # nothing has been stored yet
        return [], []
    except OSError:
        # The files of its rows are then checked one by one.
        logger.exception("cannot list folder %r of the storage", path)
        return [], []
    return list(inside), list(files)


def _compare_folder(folder: str, report: IntegrityReport) -> None:
    """Compare one folder without its subfolders."""
    # Files are listed before rows are read: a row is created before its file, so new files always have one.
    files = set(_list(folder)[1])
    start = f"{folder}/" if folder else ""
    rows = StoredFile.objects.filter(is_deleted=False, name__startswith=_storable(start))
    unknown = set(files)
    for row in rows.iterator(chunk_size=2000):
        name = row.name.removeprefix(start)
        if "/" in name:
            continue
        unknown.discard(name)
        if row.due_at is None and row.asset_id is not None:
            report.checked += 1
            if name in files:
                continue
            # The file may have been written, or its row deleted, since the folder was listed.
            if _in_use().filter(pk=row.pk).exists() and not default_storage.exists(row.name):
                report.add_missing(row.asset_id, row.name)
    for name in sorted(unknown):
        report.add_orphaned(start + name)


@transaction.atomic
def request_check(*, actor: Actor) -> FileCheck:
    """Request a check of all files by a worker. A waiting or running one is reused. Raises `NotAllowed`."""
    actor.require("media.edit")
    is_alive = Q(started_at=None) | Q(started_at__gt=timezone.now() - _MAX_DURATION)
    waiting = FileCheck.objects.filter(is_alive, finished_at=None).first()
    if waiting is None:
        waiting = FileCheck.objects.create()
        old = FileCheck.objects.values_list("pk", flat=True)[_CHECKS_KEPT:]
        FileCheck.objects.filter(pk__in=list(old)).delete()
    send_after_commit(
        lambda: queue_task("media.tasks.check_files"), "a check of the files", once=True
    )
    return waiting


def run_checks() -> int:
    """Run the requested checks and return their number. A check that a killed worker left can be requested again."""
    done = 0
    for pk in FileCheck.objects.filter(started_at=None).values_list("pk", flat=True):
        if not FileCheck.objects.filter(pk=pk, started_at=None).update(started_at=timezone.now()):
            continue  # another worker took it
        report = check()
        FileCheck.objects.filter(pk=pk).update(
            finished_at=timezone.now(),
            checked=report.checked,
            missing_count=report.missing_count,
            orphaned_count=report.orphaned_count,
            missing=report.missing,
            orphaned=report.orphaned,
        )
        done += 1
    return done
