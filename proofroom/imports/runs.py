"""Runs of imports: started by a person, carried out item by item, in the foreground or by a worker.

Each item is its own transaction with the note of what came of it, so that a worker may be killed at any point; what
goes on then finds how far the run was. Only the outline of the source is held in memory.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel

from proofroom.core import outbox
from proofroom.core.actor import Actor, Via
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.imports.content_source import ContentSource, ImportOptions, Reader
from proofroom.imports.items import PostItem, Remark
from proofroom.imports.models import ImportChunk, ImportLine, ImportRun, RunState
from proofroom.imports.plan import ImportPlan, make_plan
from proofroom.imports.post_writer import write_post
from proofroom.imports.registry import Output, importers
from proofroom.imports.run_source import RunSource
from proofroom.imports.writer import ImportWriter, Written

logger = logging.getLogger(__name__)
MAX_LINES: Final = 20_000
"""Lines that a report keeps; what comes after is counted only."""
CHUNK_BYTES: Final = 1024 * 1024
_LATE_AFTER: Final = timedelta(minutes=5)
_MAX_WOKEN: Final = 5
_KEEP_RUNS: Final = timedelta(days=90)
_KEEP_UPLOADS: Final = timedelta(days=7)
"""How long the file of a dry run waits to be imported."""
_MESSAGE_MAX: Final = 2000
Tell: TypeAlias = Callable[[ImportRun, Written], None]
Write: TypeAlias = Callable[[], list[Written]]
"""Stores an item, in the transaction that notes it."""
Step: TypeAlias = Callable[[], Write]
"""What an item needs before its transaction, such as its files."""
Steps: TypeAlias = Callable[[], Iterator[Step]]


ARCHIVE: Final = "archive"


class NotTheTurn(Exception):
    """Another worker is at it, or the run was cancelled."""


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


@transaction.atomic
def repeat_run(
    *, run_id: UUID, actor: Actor, changed: Mapping[str, Any] | None = None
) -> ImportRun:
    """Import for good what a dry run of an uploaded file showed, with options that are `changed` since.

    Raises `Conflict` where its file is gone.
    """
    actor.require_person("import content")
    before = ImportRun.objects.select_for_update(of=("self",)).filter(pk=run_id).first()
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


def run_command(
    importer: ContentSource,
    *,
    path: Path,
    actor: Actor,
    options: Mapping[str, Any],
    out: Output,
    err: Output,
) -> None:
    """Carry out a run in the foreground, a line for each item that is not as it was."""
    values = dict(options)
    if isinstance(values.get("mapping"), str):
        values["mapping"] = _read_mapping(values["mapping"])
    checked = importer.check_options(values)
    importer.check_path(path)
    if checked.media and not Path(checked.media).is_dir():
        raise RuleViolation(_("%(path)s is not a folder.") % {"path": checked.media})
    run = start_run(
        actor=actor,
        importer=importer,
        name=path.resolve().name or str(path),
        options=checked,
        is_dry_run=bool(options.get("dry_run")),
    )

    def tell(run: ImportRun, written: Written) -> None:
        if written.outcome != "unchanged":
            to = err if written.outcome == "failed" else out
            message = f": {written.message}" if written.message else ""
            to.write(f"{written.outcome:9} {written.place}{message}")
        for remark in written.remarks:
            (err if remark.severity == "error" else out).write(
                f"  {remark.place}: {remark.message}"
            )
        if run.done and run.done % 100 == 0:
            out.write(f"… {run.done} of {run.planned}")

    try:
        execute_items(run, importer, path, actor, tell=tell, ends=None)
    except BaseException:
        # Also Ctrl-C: the next run goes on from what is stored.
        ImportRun.objects.filter(pk=run.pk, state=RunState.RUNNING).update(
            state=RunState.CANCELLED, finished_at=timezone.now()
        )
        raise
    run.refresh_from_db()
    out.write(summary_of(run))
    if run.state == RunState.FAILED:
        raise RuleViolation(run.why)
    posts = run.counts.get("posts", {})
    if posts and set(posts) == {"failed"}:
        raise RuleViolation(_("No posts could be imported. See the entries above."))


def _read_mapping(name: str) -> object:
    if not name:
        return {}
    try:
        return json.loads(Path(name).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise invalid(
            "mapping", _("The mapping cannot be read: %(why)s") % {"why": error}
        ) from None


def summary_of(run: ImportRun) -> str:
    """The outcomes in one line."""
    parts = [
        f"{kind}: " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
        for kind, counts in run.counts.items()
    ]
    head = "Dry run; nothing was stored. " if run.is_dry_run else ""
    return head + ("; ".join(parts) or "Nothing to import") + "."


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
        if run.is_export or run.chunks.exists():
            run.save(update_fields=["touched_at"])
            send_later(run)
        elif run.via == "command":
            end_run(run, RunState.CANCELLED, _("The command ended before the import did."))
    return len(rows)


def send_later(run: ImportRun) -> None:
    send_after_commit(
        lambda: queue_task("imports.tasks.run_import", str(run.pk)), f"import {run.pk}"
    )


@dataclass
class _Turn:
    """One turn at a run: where it is, and until when this turn may go on."""

    run: ImportRun
    writer: ImportWriter
    tell: Tell | None
    ends: float | None

    def note(self, kind: str, write: Write, stage: int, position: int) -> None:
        """Write an item, and what came of it, in one transaction. Raises `NotTheTurn`."""
        with transaction.atomic():
            row = (
                ImportRun.objects.select_for_update(of=("self",))
                .filter(pk=self.run.pk, state=RunState.RUNNING)
                .first()
            )
            if row is None or (row.stage, row.position) != (self.run.stage, self.run.position):
                raise NotTheTurn
            written = write()
            for one in written:
                _count(row, one.kind or kind, one)
            row.stage, row.position = stage, position
            row.done += 1
            row.save()
        self.run = row
        if self.tell is not None:
            for one in written:
                self.tell(row, one)
        if self.ends is not None and time.monotonic() > self.ends:
            raise TimeoutError


def _count(row: ImportRun, kind: str, written: Written) -> None:
    counts = row.counts.setdefault(kind, {})
    counts[written.outcome] = counts.get(written.outcome, 0) + 1
    lines: list[ImportLine] = []
    if written.outcome != "unchanged" or written.message:
        severity = {"failed": "error", "skipped": "warning"}.get(written.outcome, "info")
        lines.append(
            ImportLine(
                run=row,
                severity=severity,
                kind=kind,
                outcome=written.outcome,
                place=written.place[:300],
                message=written.message[:_MESSAGE_MAX],
                object_id=written.object_id,
            )
        )
    lines += [_line_of(row, remark, kind, written.object_id) for remark in written.remarks]
    _add_lines(row, lines)


def _line_of(row: ImportRun, remark: Remark, kind: str = "", id_: UUID | None = None) -> ImportLine:
    return ImportLine(
        run=row,
        severity=remark.severity,
        kind=kind,
        place=remark.place[:300],
        message=remark.message[:_MESSAGE_MAX],
        object_id=id_,
    )


def _add_lines(row: ImportRun, lines: list[ImportLine]) -> None:
    kept = lines[: max(0, MAX_LINES - row.line_count)]
    ImportLine.objects.bulk_create(kept)
    row.line_count += len(lines)


def execute_items(
    run: ImportRun,
    importer: ContentSource,
    path: Path,
    actor: Actor,
    *,
    tell: Tell | None,
    ends: float | None,
) -> None:
    """Write the items of a source one by one, from where the run is."""
    options = ImportOptions.model_validate(run.options)
    reader = importer.open(path, options)
    try:
        touched = time.monotonic()

        def tick() -> None:
            nonlocal touched
            if time.monotonic() - touched > 30:
                touched = time.monotonic()
                ImportRun.objects.filter(pk=run.pk).update(touched_at=timezone.now())

        plan = make_plan(reader, importer.name, tick)
        run = _begin(run, reader, plan, tell)
        writer = ImportWriter(importer.name, reader, plan, options, actor, run.is_dry_run)
        turn = _Turn(run, writer, tell, ends)
        try:
            _write_all(turn, reader, plan)
        except NotTheTurn:
            return
        except TimeoutError:
            send_later(turn.run)
            return
    except RuleViolation as error:
        end_run(run, RunState.FAILED, error.message)
        return
    finally:
        reader.close()
    end_run(turn.run, RunState.DONE)


def _begin(run: ImportRun, reader: Reader, plan: ImportPlan, tell: Tell | None) -> ImportRun:
    """Note what the outline of the source says; a turn that goes on has it already."""
    with transaction.atomic():
        row = ImportRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
        if row.stage == 0 and row.position == 0 and row.planned == 0:
            row.scope = reader.scope[:300]
            row.planned = (
                len(plan.terms)
                + len(plan.files)
                + len(plan.posts)
                + len(plan.menus)
                + len(plan.redirects)
            )
            _add_lines(row, [_line_of(row, remark) for remark in plan.remarks])
            broken = sum(remark.severity == "error" for remark in plan.remarks)
            if broken:
                row.counts["items"] = {"failed": broken}
            row.save()
            if tell is not None:
                tell(row, Written("unchanged", "", "", None, tuple(plan.remarks)))
    return row


def _write_all(turn: _Turn, reader: Reader, plan: ImportPlan) -> None:
    """Every item, from where the run is: terms, files, posts level by level, menus, redirects."""
    writer = turn.writer
    stages: list[tuple[str, Steps]] = [
        ("terms", lambda: (_later(writer.write_term, term) for term in plan.terms)),
        ("files", lambda: (_now(writer.load_file, file) for file in plan.files.values())),
    ]
    for level in range(plan.levels):
        stages.append(("posts", _posts_of_level(turn, reader, plan, level)))
    stages += [
        ("menus", lambda: (_later(writer.write_menu, menu) for menu in plan.menus)),
        ("redirects", lambda: (_later(writer.write_redirect, one) for one in plan.redirects)),
    ]
    for stage, (kind, steps) in enumerate(stages):
        if stage < turn.run.stage:
            continue
        done = turn.run.position if stage == turn.run.stage else 0
        for position, prepare in enumerate(steps(), 1):
            if position > done:
                turn.note(kind, prepare(), stage, position)


def _later(write: Callable[[Any], Written], item: object) -> Step:
    """A step whose work is part of the transaction."""
    return lambda: lambda: [write(item)]


def _now(write: Callable[[Any], Written], item: object) -> Step:
    """A step whose work is done before the transaction, which notes it only."""

    def prepare() -> Write:
        written = write(item)
        return lambda: [written]

    return prepare


def _posts_of_level(turn: _Turn, reader: Reader, plan: ImportPlan, level: int) -> Steps:
    def steps() -> Iterator[Step]:
        wanted = {post.source_id for post in plan.posts.values() if post.level == level}
        for item in reader.items(frozenset(wanted)):
            if isinstance(item, PostItem) and item.source_id in wanted:
                wanted.discard(item.source_id)  # a second one of the same id was reported
                yield _post_step(turn, item)

    return steps


def _post_step(turn: _Turn, item: PostItem) -> Step:
    def prepare() -> Write:
        # Files are stored outside of the transaction; their notes come with the post's.
        files = turn.writer.load_files_of(item)

        return lambda: [*files, write_post(turn.writer, item)]

    return prepare


def end_run(run: ImportRun, state: RunState, why: str = "", *, notes: Sequence[str] = ()) -> None:
    """Close the run. The file is kept after a dry run, to import it for good, and forgotten after the import."""
    with transaction.atomic():
        row = ImportRun.objects.select_for_update(of=("self",)).filter(pk=run.pk).first()
        if row is None or not row.is_running:
            return
        row.state, row.why, row.finished_at = state, why, timezone.now()
        _add_lines(row, [_line_of(row, Remark("", note)) for note in notes])
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
