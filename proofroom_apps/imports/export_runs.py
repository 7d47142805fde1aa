"""Exports: written by a worker, available to administrators for a day."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, Annotated, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field

from proofroom.archive.export import PERMISSION, Choice
from proofroom.archive.services import export_archive
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import NotFound, RuleViolation
from proofroom_apps.imports.models import (
    CHUNK_BYTES,
    ExportSchedule,
    ExportTarget,
    ImportChunk,
    ImportRun,
)
from proofroom_apps.imports.run_watch import RunCancelled, RunWatch

MAX_BYTES: Final = 2 * 1024**3
KEEP_FILE: Final = timedelta(days=1)
_UNFINISHED: Final = ".export-"
"""Beginning of the names of unfinished files in the folder for exports."""
_KEEP_UNFINISHED: Final = timedelta(days=1)
Names = Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=500)]


class ExportOptions(BaseModel):
    """The parts of the site that an export contains, as they are stored; see `Choice`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    posts: Names = []
    sections: Names = []
    post_types: Names = []
    locales: Names = []
    changed_since: datetime | None = None
    published_only: bool = False
    revisions: bool = False

    def choice(self) -> Choice:
        return Choice(
            posts=frozenset(self.posts),
            sections=frozenset(self.sections),
            post_types=frozenset(self.post_types),
            locales=frozenset(self.locales),
            changed_since=self.changed_since,
            published_only=self.published_only,
            revisions=self.revisions,
        )


def execute_export(run: ImportRun, actor: Actor) -> Sequence[str] | None:
    """Write the archive, and store it in parts until it expires. Raises `CmsError`.

    Returns the notes of its report, or None if it was cancelled, or another worker writes it.
    """
    claim = _claim(run)
    if claim is None:
        return None
    watch = RunWatch(run.pk, claim)

    def progress(kind: str, number: int) -> None:
        watch.done += 1
        watch()

    schedule = run.schedule
    folder = (
        export_folder() if schedule is not None and schedule.target == ExportTarget.FOLDER else None
    )
    with TemporaryFile() as target:
        options = ExportOptions.model_validate(run.options)
        try:
            exported = export_archive(
                target=target, actor=actor, choice=options.choice(), progress=progress
            )
            size = target.tell()
            if size > MAX_BYTES and folder is None:
                text = _("The archive is larger than %(most)s GB. Export it on the command line.")
                raise RuleViolation(text % {"most": MAX_BYTES // 1024**3})
            # A worker that was killed may have left parts of an earlier try.
            with _claimed(run, claim):
                ImportChunk.objects.filter(run=run).delete()
            target.seek(0)
            if folder is not None:
                _write_file(folder / run.name, target, watch)
            parts = iter(lambda: target.read(CHUNK_BYTES), b"") if folder is None else ()
            for number, block in enumerate(parts):
                with _claimed(run, claim):
                    ImportChunk.objects.create(run=run, number=number, content=block)
            counts = {
                name.removesuffix(".jsonl"): {"exported": summary.rows}
                for name, summary in exported.manifest.files.items()
                if summary.rows
            }
            total = sum(count["exported"] for count in counts.values())
            with _claimed(run, claim) as rows:
                rows.update(
                    counts=counts,
                    size=size,
                    done=total,
                    planned=total,
                    expires_at=(
                        None if folder is not None else timezone.now() + _keep_file(schedule)
                    ),
                )
        except RunCancelled:
            return None
        except DATABASE_UNREACHABLE:
            raise
        except Exception:
            # The failure of a late worker must not end the run of another.
            if _rows(run, claim).exists():
                raise
            return None
    return exported.notes


def _claim(run: ImportRun) -> int | None:
    """Return the number of this try, or None if another worker writes the archive already.

    An export doesn't hold the lock on its row, because that would block its progress. `stage` is 1 while a worker has
    it, until the sweep finds that it has stopped. `position` is the number of the try.
    """
    rows = ImportRun.objects.filter(pk=run.pk, state=JobState.RUNNING)
    with transaction.atomic():
        if not rows.filter(stage=0).update(
            stage=1, position=F("position") + 1, touched_at=timezone.now()
        ):
            return None
        return rows.values_list("position", flat=True).get()


def release(run: ImportRun) -> None:
    """Let another worker write the archive of a locked run."""
    run.stage = 0
    ImportRun.objects.filter(pk=run.pk).update(stage=0)


def _rows(run: ImportRun, claim: int) -> QuerySet[ImportRun]:
    """Return the run, or nothing if it has ended or is another worker's now."""
    return ImportRun.objects.filter(pk=run.pk, state=JobState.RUNNING, position=claim)


@contextmanager
def _claimed(run: ImportRun, claim: int) -> Iterator[QuerySet[ImportRun]]:
    """Lock and touch the run for a write. Raises `RunCancelled` if it has ended, or is another worker's now."""
    rows = _rows(run, claim)
    with transaction.atomic():
        if not rows.update(touched_at=timezone.now()):
            raise RunCancelled
        yield rows


def _keep_file(schedule: ExportSchedule | None) -> timedelta:
    # The archives of a schedule are deleted by their number.
    return KEEP_FILE if schedule is None else timedelta(days=365)


def _write_file(path: Path, source: IO[bytes], watch: RunWatch) -> None:
    """Write the archive to the folder for exports atomically. Raises `RuleViolation`, `RunCancelled`."""
    try:
        _remove_leftovers(path.parent)
        with NamedTemporaryFile(dir=path.parent, prefix=_UNFINISHED, delete=False) as target:
            try:
                while block := source.read(CHUNK_BYTES):
                    target.write(block)
                    watch()
                target.flush()
                os.fsync(target.fileno())
                Path(target.name).replace(path)
            except BaseException:
                Path(target.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        text = _("The folder for exports cannot be used: %(why)s")
        raise RuleViolation(text % {"why": error.strerror or error}) from None


def _remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of workers that were killed."""
    oldest = timezone.now().timestamp() - _KEEP_UNFINISHED.total_seconds()
    for path in folder.glob(f"{_UNFINISHED}*"):
        with suppress(OSError):
            if path.lstat().st_mtime < oldest:
                path.unlink()


def export_folder() -> Path:
    """Return the folder for exports. Raises `RuleViolation` if it is not set, or cannot be written."""
    folder: Path | None = settings.CMS_ENV.export_folder
    if folder is None:
        raise RuleViolation(_("The site has no folder for exports. Set EXPORT_FOLDER."))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        text = _("The folder for exports cannot be used: %(why)s")
        raise RuleViolation(text % {"why": error.strerror or error}) from None
    return folder


def open_export(run: ImportRun, actor: Actor) -> Iterator[bytes]:
    """Return the parts of a finished export's archive. Raises `NotAllowed`, or `NotFound` if it has expired."""
    actor.require_person("export content")
    actor.require(PERMISSION)
    is_done = run.is_export and run.state == JobState.DONE
    is_over = run.expires_at is None or run.expires_at <= timezone.now()
    if not is_done or is_over or not run.chunks.exists():
        raise NotFound(_("This archive has expired. Export it again."))
    numbers = run.chunks.order_by("number").values_list("number", flat=True)
    # One query per part, so that only one part of a large archive is in memory.
    return (bytes(run.chunks.get(number=number).content) for number in numbers.iterator())
