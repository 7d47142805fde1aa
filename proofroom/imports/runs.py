"""Runs of imports and exports: started by a person, cancelled, gone on with, and ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel

from proofroom.core import outbox
from proofroom.core.actor import Actor, Via
from proofroom.core.content_scope import own_where_limited
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.imports.items import Remark
from proofroom.imports.models import ImportChunk, ImportLine, ImportRun, RunState
from proofroom.imports.problems import storable
from proofroom.imports.registry import importers
from proofroom.imports.run_source import RunSource

MAX_LINES: Final = 20_000
"""Lines that a report keeps; what comes after is counted only."""
CHUNK_BYTES: Final = 1024 * 1024
_LATE_AFTER: Final = timedelta(minutes=5)
_MAX_WOKEN: Final = 5
_KEEP_RUNS: Final = timedelta(days=90)
_KEEP_UPLOADS: Final = timedelta(days=7)
"""How long the file of a dry run waits to be imported."""
MESSAGE_MAX: Final = 2000
_MAX_ATTEMPTS: Final = 3
"""So often the sweep wakes a run that gets no further."""
ARCHIVE: Final = "archive"


def find_importer(source: str) -> RunSource:
    """The importer of that name whose runs are kept. Raises `RuleViolation`."""
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
    """Note a run. With an `upload`, a worker carries it out; else the caller calls `run_execution.execute_run`."""
    actor.require_person("import content")
    values = options.model_dump(mode="json")
    importer.require_rights(actor, values)
    with transaction.atomic():
        run = ImportRun.objects.create(
            source=importer.name,
            name=name[:300],
            options=values,
            is_dry_run=is_dry_run,
            by_id=actor.user.pk,
            by_name=actor.user.username,
            via=actor.via,
        )
        if upload is not None:
            for number, content in enumerate(upload):
                ImportChunk.objects.create(run=run, number=number, content=content)
            send_later(run)
    return run


def visible_imports(rows: QuerySet[ImportRun], actor: Actor) -> QuerySet[ImportRun]:
    """Those that the actor may see: where they are limited to a part of the content, their own. A report names posts
    of any part."""
    return own_where_limited(rows, actor, actor.user.pk)


@transaction.atomic
def repeat_run(
    *, run_id: UUID, actor: Actor, changed: Mapping[str, Any] | None = None
) -> ImportRun:
    """Import for good what a dry run of an uploaded file showed, with options that are `changed` since.

    Raises `Conflict` where its file is gone.
    """
    actor.require_person("import content")
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
    run = ImportRun.objects.create(
        source=before.source,
        name=before.name,
        options=options,
        by_id=actor.user.pk,
        by_name=actor.user.username,
        via=actor.via,
    )
    before.chunks.update(run=run)
    send_later(run)
    return run


@transaction.atomic
def cancel_run(*, run_id: UUID, actor: Actor) -> ImportRun:
    """Import nothing more; what is imported stays. Raises `Conflict` where it is over."""
    actor.require_person("cancel this")
    run = ImportRun.objects.select_for_update(of=("self",)).filter(pk=run_id).first()
    if run is None:
        raise NotFound(_("Import not found."))
    if run.by_id != actor.user.pk:
        actor.require("database.manage")
    elif not run.is_export:
        actor.require("posts.create")
    if not run.is_running:
        raise Conflict(_("This has already finished."), code="finished")
    end_run(run, RunState.CANCELLED)
    return run


def resume_runs() -> int:
    """Go on with what a lost message or a dead worker left, and forget old runs. For the sweep."""
    ImportRun.objects.filter(created_at__lt=timezone.now() - _KEEP_RUNS).exclude(
        state=RunState.RUNNING
    ).delete()
    over = ImportRun.objects.exclude(state=RunState.RUNNING)
    expired = Q(expires_at__lt=timezone.now()) | Q(finished_at__lt=timezone.now() - _KEEP_UPLOADS)
    ImportChunk.objects.filter(run__in=over.filter(expired)).delete()
    late = ImportRun.objects.filter(
        state=RunState.RUNNING, touched_at__lt=timezone.now() - _LATE_AFTER
    )
    rows = list(late.order_by("touched_at")[:_MAX_WOKEN])
    for run in rows:
        if not (run.is_export or run.chunks.exists()):
            end_run(run, RunState.CANCELLED, _("The command ended before the import was finished."))
        elif run.attempts >= _MAX_ATTEMPTS:
            text = _("It was interrupted %(number)s times without getting any further.")
            end_run(run, RunState.FAILED, text % {"number": run.attempts})
        else:
            run.attempts += 1
            run.save(update_fields=["attempts", "touched_at"])
            send_later(run)
    return len(rows)


def send_later(run: ImportRun) -> None:
    send_after_commit(
        lambda: queue_task("imports.tasks.run_import", str(run.pk)), f"import {run.pk}"
    )


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


def end_run(run: ImportRun, state: RunState, why: str = "", *, notes: Sequence[str] = ()) -> None:
    """Close the run. The file is kept after a dry run, to import it for good, and forgotten after the import."""
    with transaction.atomic():
        row = ImportRun.objects.select_for_update(of=("self",)).filter(pk=run.pk).first()
        if row is None or not row.is_running:
            return
        row.state, row.why, row.finished_at = state, why, timezone.now()
        add_lines(row, [line_of(row, Remark("", note)) for note in notes])
        row.save()
        # An export keeps its file until it expires, a dry run for the import.
        if state != RunState.DONE or not (row.is_dry_run or row.is_export):
            row.chunks.all().delete()
        # Archives record events of their own.
        if not row.is_dry_run and row.source != ARCHIVE and row.by is not None:
            outbox.record(
                "content.imported",
                actor=Actor(user=row.by, via=cast("Via", row.via)),
                payload={
                    "id": str(row.pk),
                    "source": row.source,
                    "name": row.name,
                    "state": row.state,
                    "counts": row.counts,
                },
            )
