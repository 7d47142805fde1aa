"""Imports items one by one, in the foreground or in a worker.

Each item and its outcome are stored in one transaction, so a worker may be killed at any point and the next one
resumes. A failing item becomes a line of the report, and the run continues. Only the outline of the source is in
memory.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import RuleViolation, invalid
from proofroom_apps.imports.clean_texts import clean_items
from proofroom_apps.imports.content_source import ContentSource, ImportOptions, Reader
from proofroom_apps.imports.items import Item, MediaItem, MenuItem, PostItem, RedirectItem, TermItem
from proofroom_apps.imports.models import ImportLine, ImportRun
from proofroom_apps.imports.places import read_places
from proofroom_apps.imports.plan import ImportPlan, make_plan
from proofroom_apps.imports.post_writer import write_post
from proofroom_apps.imports.problems import sentence_of, storable
from proofroom_apps.imports.registry import IncompleteImport, Output
from proofroom_apps.imports.run_report import report_of
from proofroom_apps.imports.runs import (
    IMPORT_RUNS,
    MESSAGE_MAX,
    add_lines,
    end_run,
    line_of,
    start_run,
)
from proofroom_apps.imports.writer import ImportWriter, WrittenItem

logger = logging.getLogger(__name__)
Tell: TypeAlias = Callable[[ImportRun, WrittenItem], None]
Write: TypeAlias = Callable[[], list[WrittenItem]]
"""Stores an item, in the transaction that records its outcome."""


@dataclass(frozen=True, slots=True)
class ItemStep:
    """One item. `prepare` does its work outside of the transaction, such as loading files."""

    place: str
    prepare: Callable[[], Write]


ItemSteps: TypeAlias = Callable[[], Iterator[ItemStep]]


class RunTakenOver(Exception):
    """Raised if another worker has the run, or the run was cancelled."""


def run_command(
    importer: ContentSource,
    *,
    path: Path,
    actor: Actor,
    options: Mapping[str, Any],
    out: Output,
    err: Output,
) -> None:
    """Execute a run in the foreground.

    Prints a line for each item that changed, was skipped or failed, then the report. The options `json` and `preview`
    print the report only.

    Raises `IncompleteImport` if some items failed, and `RuleViolation` if the run failed or imported no post.
    """
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

    def tell(run: ImportRun, written: WrittenItem) -> None:
        if written.outcome != "unchanged":
            to = err if written.outcome == "failed" else out
            message = f": {written.message}" if written.message else ""
            to.write(storable(f"{written.outcome:9} {written.place}{message}"))
        for remark in written.remarks:
            (err if remark.severity == "error" else out).write(
                storable(f"  {remark.place}: {remark.message}")
            )
        if run.done and run.done % 100 == 0:
            out.write(f"… {run.done} of {run.planned}")

    is_report_only = bool(options.get("json") or options.get("preview"))
    try:
        execute_items(run, importer, path, actor, tell=None if is_report_only else tell, ends=None)
    except BaseException:
        # BaseException includes Ctrl-C. The next run continues from the stored items.
        ImportRun.objects.filter(pk=run.pk, state=JobState.RUNNING).update(
            state=JobState.CANCELLED, ended_at=timezone.now()
        )
        raise
    run.refresh_from_db()
    report = report_of(run)
    if options.get("json"):
        out.write(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        report.write(out)
        out.write(summary_of(run))
    if run.state == JobState.FAILED:
        raise RuleViolation(run.why)
    if {*run.counts.get("posts", {}), *run.counts.get("items", {})} == {"failed"}:
        raise RuleViolation(_("No posts could be imported. See the entries above."))
    failed = sum(outcomes.get("failed", 0) for outcomes in run.counts.values())
    if failed and not options.get("preview"):
        raise IncompleteImport(
            ngettext(
                "%(count)s item could not be imported. See the entries above.",
                "%(count)s items could not be imported. See the entries above.",
                failed,
            )
            % {"count": failed}
        )


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
    """Return the outcomes in one line."""
    parts = [
        f"{kind}: " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
        for kind, counts in run.counts.items()
    ]
    head = "Dry run; nothing was stored. " if run.is_dry_run else ""
    return head + ("; ".join(parts) or "Nothing to import") + "."


@dataclass
class _Turn:
    """One turn of a run: its position, and the time at which this turn must end."""

    run: ImportRun
    writer: ImportWriter
    tell: Tell | None
    ends: float | None

    def note(self, kind: str, step: ItemStep, stage: int, position: int) -> None:
        """Write an item and its outcome in one transaction. Raises `RunTakenOver`."""

        def failed(error: Exception) -> list[WrittenItem]:
            place = storable(step.place)
            logger.warning("An item of an import failed: %s", place, exc_info=error)
            return [WrittenItem("failed", step.place, sentence_of(error))]

        write: Write | None = None
        written: list[WrittenItem] = []
        try:
            write = step.prepare()
        # An unreachable database is no defect of the item: stop, and let a later turn continue here.
        except DATABASE_UNREACHABLE:
            raise
        except Exception as error:
            written = failed(error)
        with transaction.atomic():
            row = IMPORT_RUNS.lock(self.run.pk)
            if row is None or not row.is_running:
                raise RunTakenOver
            # Another worker has advanced the run since; writing the item again would duplicate it.
            if (row.stage, row.position) != (self.run.stage, self.run.position):
                raise RunTakenOver
            try:
                if write is not None:
                    # A savepoint: a failing item is rolled back, but its outcome is still recorded.
                    with transaction.atomic():
                        written = write()
            except DATABASE_UNREACHABLE:
                raise
            except Exception as error:
                written = failed(error)
            for one in written:
                _count(row, one.kind or kind, one)
            row.stage, row.position = stage, position
            row.done += 1
            # The runner gives up a run only after repeated interruptions without progress.
            row.attempts = 0
            row.save()
        self.run = row
        if self.tell is not None:
            for one in written:
                self.tell(row, one)
        if self.ends is not None and time.monotonic() > self.ends:
            raise TimeoutError


def _count(row: ImportRun, kind: str, written: WrittenItem) -> None:
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
                place=storable(written.place)[:300],
                message=storable(written.message)[:MESSAGE_MAX],
                object_id=written.object_id,
            )
        )
    lines += [line_of(row, remark, kind, written.object_id) for remark in written.remarks]
    add_lines(row, lines)


def execute_items(
    run: ImportRun,
    importer: ContentSource,
    path: Path,
    actor: Actor,
    *,
    tell: Tell | None,
    ends: float | None,
) -> None:
    """Write the items of a source one by one, from the run's position."""
    options = ImportOptions.model_validate(run.options)
    reader = importer.open(path, options)
    try:
        touched = time.monotonic()

        def tick() -> None:
            nonlocal touched
            # Reading a large outline records no progress, and the runner would take the run for abandoned.
            if time.monotonic() - touched > 30:
                touched = time.monotonic()
                ImportRun.objects.filter(pk=run.pk).update(touched_at=timezone.now())

        plan = make_plan(reader, importer.name, tick)
        run = _begin(run, reader, plan, tell)
        # Read before anything is written: posts link to headings of posts that are written later.
        places = read_places(reader, frozenset(plan.posts), tick)
        writer = ImportWriter(importer.name, reader, plan, options, actor, run.is_dry_run, places)
        turn = _Turn(run, writer, tell, ends)
        try:
            _write_all(turn, reader, plan)
        except RunTakenOver:
            return
        except TimeoutError:
            # This turn has used its time. Another one continues from the stored position.
            IMPORT_RUNS.send_later(run.pk)
            return
    except RuleViolation as error:
        end_run(run, JobState.FAILED, error.message)
        return
    finally:
        reader.close()
    end_run(turn.run, JobState.DONE)


def _begin(run: ImportRun, reader: Reader, plan: ImportPlan, tell: Tell | None) -> ImportRun:
    """Store the size of the source and its remarks. A resumed turn has them already."""
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
            add_lines(row, [line_of(row, remark) for remark in plan.remarks])
            broken = sum(remark.severity == "error" for remark in plan.remarks)
            if broken:
                row.counts["items"] = {"failed": broken}
            row.save()
            if tell is not None:
                tell(row, WrittenItem("unchanged", "", "", None, tuple(plan.remarks)))
    return row


def _write_all(turn: _Turn, reader: Reader, plan: ImportPlan) -> None:
    """Write every item from the run's position: terms, files, posts level by level, menus, redirects."""
    writer = turn.writer
    stages: list[tuple[str, ItemSteps]] = [
        ("terms", lambda: (_step_in_transaction(writer.write_term, term) for term in plan.terms)),
        (
            "files",
            lambda: (
                _step_before_transaction(writer.load_file, file) for file in plan.files.values()
            ),
        ),
    ]
    # Level by level: a parent has to exist before the posts below it.
    for level in range(plan.levels):
        stages.append(("posts", _posts_of_level(turn, reader, plan, level)))
    stages += [
        ("menus", lambda: (_step_in_transaction(writer.write_menu, menu) for menu in plan.menus)),
        (
            "redirects",
            lambda: (_step_in_transaction(writer.write_redirect, one) for one in plan.redirects),
        ),
    ]
    for stage, (kind, steps) in enumerate(stages):
        if stage < turn.run.stage:
            continue
        done = turn.run.position if stage == turn.run.stage else 0
        for position, step in enumerate(steps(), 1):
            # A reader yields its items in the same order each time, so their number is enough to resume.
            if position > done:
                turn.note(kind, step, stage, position)


def _step_in_transaction(write: Callable[[Any], WrittenItem], item: Item) -> ItemStep:
    """Return a step that works inside the transaction."""
    return ItemStep(_place_of(item), lambda: lambda: [write(item)])


def _step_before_transaction(write: Callable[[Any], WrittenItem], item: Item) -> ItemStep:
    """Return a step that works before the transaction, which only records the outcome."""

    def prepare() -> Write:
        written = write(item)
        return lambda: [written]

    return ItemStep(_place_of(item), prepare)


def _place_of(item: Item) -> str:
    match item:
        case TermItem() | MenuItem():
            return item.name
        case MediaItem():
            return item.address
        case RedirectItem():
            return item.from_path
        case _:
            return item.place


def _posts_of_level(turn: _Turn, reader: Reader, plan: ImportPlan, level: int) -> ItemSteps:
    def steps() -> Iterator[ItemStep]:
        wanted = {post.source_id for post in plan.posts.values() if post.level == level}
        for item in clean_items(reader.items(frozenset(wanted))):
            if isinstance(item, PostItem) and item.source_id in wanted:
                wanted.discard(item.source_id)  # a second one of the same id was reported
                yield _post_step(turn, item)

    return steps


def _post_step(turn: _Turn, item: PostItem) -> ItemStep:
    def prepare() -> Write:
        if item.problem:
            return lambda: [WrittenItem("failed", item.place, item.problem, None, item.remarks)]
        # Files are stored outside of the transaction; their outcomes are recorded with the post's.
        files = turn.writer.load_files_of(item)
        return lambda: [*files, write_post(turn.writer, item)]

    return ItemStep(item.place, prepare)
