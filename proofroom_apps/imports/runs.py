"""Runs of imports and exports: started by a user, executed by a worker, cancelled, and ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar, Final, cast
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override
from pydantic import BaseModel

from proofroom.archive.export import PERMISSION
from proofroom.core import outbox
from proofroom.core.actor import Actor, Via
from proofroom.core.background_jobs.models import JobState
from proofroom.core.background_jobs.runner import JobRunner
from proofroom.core.content_scope import limit_to_own_runs
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.hooks import Hook
from proofroom_apps.imports.export_runs import ExportOptions, execute_export, release
from proofroom_apps.imports.items import Remark
from proofroom_apps.imports.models import (
    ARCHIVE,
    ExportSchedule,
    ImportChunk,
    ImportLine,
    ImportRun,
)
from proofroom_apps.imports.problems import sentence_of, storable
from proofroom_apps.imports.registry import importers
from proofroom_apps.imports.run_folders import remove_folders, unpacked_upload
from proofroom_apps.imports.run_source import RunSource

MAX_LINES: Final = 20_000
"""Maximum number of lines of a report; further ones are only counted."""
KEEP_UPLOADS: Final = timedelta(days=7)
"""Time during which the file of a dry run can be imported."""
MESSAGE_MAX: Final = 2000


run_ended: Hook[[ImportRun], None] = Hook()
"""Called in the transaction that ends a run."""


class ImportRunner(JobRunner[ImportRun]):
    """Executes runs with an uploaded file, and exports. A failing item becomes a line of the report."""

    model = ImportRun
    task: ClassVar[str] = "imports.tasks.run_import"
    noun: ClassVar[str] = "import"
    defect_text = ""
    turn_seconds = 120.0
    late_after: ClassVar[timedelta] = timedelta(minutes=5)

    def execute(self, job_id: UUID) -> None:
        rows = ImportRun.objects.select_related("by", "schedule")
        run = rows.filter(pk=job_id, state=JobState.RUNNING).first()
        if run is not None:
            # The report is in the language in which the run was started.
            with override(run.language or settings.LANGUAGE_CODE):
                try:
                    self._carry_out(run, self.actor_of(run))
                except DATABASE_UNREACHABLE:
                    raise  # the sweep goes on with it
                except Exception as error:
                    # If the run ended meanwhile, its folder is gone and the error is expected.
                    if _is_running(job_id):
                        end_run(run, JobState.FAILED, self.explain(run, error))
        # The run may have ended on another machine, or while this worker unpacked the upload.
        if not _is_running(job_id):
            remove_folders(job_id)

    def _carry_out(self, run: ImportRun, actor: Actor) -> None:
        if run.is_export:
            notes = execute_export(run, actor)
            if notes is not None:
                end_run(run, JobState.DONE, notes=notes)
            return
        importer = find_importer(run.source)
        path = unpacked_upload(run, importer)
        importer.execute(run, path, actor, ends=time.monotonic() + self.turn_seconds)

    def actor_of(self, job: ImportRun) -> Actor:
        return replace(super().actor_of(job), via=cast("Via", job.via))

    def explain(self, job: ImportRun, error: Exception) -> str:
        return super().explain(job, error) or sentence_of(error)

    def resume(self, job: ImportRun) -> None:
        # A run of the command has no file in the database, so no worker can continue it.
        if job.is_export:
            release(job)
        if job.is_export or job.chunks.exists():
            super().resume(job)
        else:
            why = _("The command ended before the import was finished.")
            self.end(job, JobState.CANCELLED, why)

    def on_end(self, job: ImportRun, actor: Actor | None) -> None:
        # Only after the commit: after a rollback the run continues and needs its folder.
        transaction.on_commit(partial(remove_folders, job.pk))
        # An export's file is stored until it expires, a dry run's for the import.
        if job.state != JobState.DONE or not (job.is_dry_run or job.is_export):
            job.chunks.all().delete()
        run_ended(job)
        # The archive import records its own events.
        if not job.is_dry_run and job.source != ARCHIVE and job.by is not None:
            outbox.record(
                "content.imported",
                actor=Actor(user=job.by, via=cast("Via", job.via)),
                payload={
                    "id": str(job.pk),
                    "source": job.source,
                    "name": job.name,
                    "state": job.state,
                    "counts": job.counts,
                },
            )


IMPORT_RUNS: Final = ImportRunner()


def _is_running(run_id: UUID) -> bool:
    return ImportRun.objects.filter(pk=run_id, state=JobState.RUNNING).exists()


def find_importer(source: str) -> RunSource:
    """Return the importer of that name. Raises `RuleViolation` if there is none that creates runs."""
    found = importers.get(source)
    if found is None or not issubclass(found, RunSource):
        raise invalid("source", _("There is no source %(name)r.") % {"name": source[:60]})
    return found()


def start_run(
    *,
    actor: Actor,
    importer: RunSource,
    name: str,
    options: BaseModel,
    is_dry_run: bool,
    upload: Iterator[bytes] | None = None,
) -> ImportRun:
    """Create a run. With an `upload`, a worker executes it; otherwise the caller does."""
    actor.require_person("import content")
    values = options.model_dump(mode="json")
    importer.require_rights(actor, values)
    with transaction.atomic():
        run = IMPORT_RUNS.create(
            actor,
            source=importer.name,
            name=name[:300],
            options=values,
            is_dry_run=is_dry_run,
            via=actor.via,
        )
        for number, content in enumerate(upload or ()):
            ImportChunk.objects.create(run=run, number=number, content=content)
    return run if upload is None else IMPORT_RUNS.begin(run, at_once=False)


def start_export(
    *, actor: Actor, name: str, options: ExportOptions, schedule: ExportSchedule | None = None
) -> ImportRun:
    """Create an export run, which a worker executes."""
    actor.require_person("export content")
    actor.require(PERMISSION)
    run = IMPORT_RUNS.create(
        actor,
        source=ARCHIVE,
        is_export=True,
        name=name[:300],
        options=options.model_dump(mode="json"),
        via=actor.via,
        schedule=schedule,
    )
    return IMPORT_RUNS.begin(run, at_once=False)


def visible_imports(rows: QuerySet[ImportRun], actor: Actor) -> QuerySet[ImportRun]:
    """Return the runs the actor may see."""
    # Reports name posts of any part of the content, so users with limited access see only their own runs.
    return limit_to_own_runs(rows, actor, actor.user.pk)


@transaction.atomic
def repeat_run(
    *, run_id: UUID, actor: Actor, changed: Mapping[str, Any] | None = None
) -> ImportRun:
    """Start the import of a file after its dry run, with `changed` options.

    Raises `Conflict` if the file was deleted.
    """
    actor.require_person("import content")
    # The lock: of two requests at the same time, the second one finds no chunks.
    rows = ImportRun.objects.select_for_update(of=("self",))
    before = visible_imports(rows, actor).filter(pk=run_id).first()
    if before is None:
        raise NotFound(_("Import not found."))
    if before.is_running or before.is_export or not before.chunks.exists():
        raise Conflict(
            _("The file for this import no longer exists. Upload it again."), code="file_gone"
        )
    importer = find_importer(before.source)
    options = importer.check_options({**before.options, **(changed or {})}).model_dump(mode="json")
    importer.require_rights(actor, options)
    run = IMPORT_RUNS.create(
        actor, source=before.source, name=before.name, options=options, via=actor.via
    )
    # Move the chunks instead of copying the upload. Afterwards the dry run cannot be repeated.
    before.chunks.update(run=run)
    return IMPORT_RUNS.begin(run, at_once=False)


def cancel_run(*, run_id: UUID, actor: Actor) -> ImportRun:
    """Stop the import; imported items stay. Raises `Conflict` if it has ended."""
    actor.require_person("cancel this")
    run = ImportRun.objects.filter(pk=run_id).first()
    if run is None:
        raise NotFound(_("Import not found."))
    if run.by_id != actor.user.pk:
        # Only administrators may end the runs of others.
        actor.require("database.manage")
    elif not run.is_export:
        actor.require("posts.create")
    return IMPORT_RUNS.cancel(run_id, actor)


def delete_expired_files() -> int:
    """Delete the files of expired exports and of runs that ended over a week ago. Return the number of chunks."""
    # A schedule deletes its own archives.
    over = ImportRun.objects.exclude(state=JobState.RUNNING)
    expired = Q(expires_at__lt=timezone.now()) | Q(
        ended_at__lt=timezone.now() - KEEP_UPLOADS, schedule=None
    )
    return ImportChunk.objects.filter(run__in=over.filter(expired)).delete()[0]


def line_of(row: ImportRun, remark: Remark, kind: str = "", id_: UUID | None = None) -> ImportLine:
    return ImportLine(
        run=row,
        severity=remark.severity,
        kind=kind,
        place=storable(remark.place)[:300],
        message=storable(remark.message)[:MESSAGE_MAX],
        object_id=id_,
    )


def add_lines(row: ImportRun, lines: list[ImportLine]) -> None:
    kept = lines[: max(0, MAX_LINES - row.line_count)]
    ImportLine.objects.bulk_create(kept)
    row.line_count += len(lines)


@transaction.atomic
def end_run(run: ImportRun, state: JobState, why: str = "", *, notes: Sequence[str] = ()) -> None:
    """End the run, unless it has ended. After a dry run the file is retained for the import."""
    row = IMPORT_RUNS.lock(run.pk)
    if row is not None and row.is_running:
        add_lines(row, [line_of(row, Remark("", note)) for note in notes])
        IMPORT_RUNS.end(row, state, why)
