"""Runs of archives: a comparison, then the import in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final
from uuid import UUID

import orjson
from django.db import transaction
from django.utils.translation import gettext as _

from proofroom.archive.imports import Entry, Mode, Outcome
from proofroom.archive.services import import_archive
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.batches import batches
from proofroom.core.json import Json, JsonObject
from proofroom.definitions.props import words_of
from proofroom_apps.imports.models import ImportLine, ImportRun
from proofroom_apps.imports.run_watch import RunCancelled, RunWatch
from proofroom_apps.imports.runs import IMPORT_RUNS, MAX_LINES, end_run

MAX_FIELDS: Final = 50
"""Maximum number of fields of an entry whose values a report stores."""
_VALUE_MAX: Final = 1_000


def execute_archive(run: ImportRun, path: Path, actor: Actor, mode: Mode) -> None:
    """Import the archive, or compare it with the site in a dry run."""
    watch = RunWatch(run.pk)
    with TemporaryFile() as spool:
        report = _Spool(spool)
        try:
            outcome = import_archive(
                source=path,
                actor=actor,
                mode=mode,
                dry_run=run.is_dry_run,
                listener=report.add,
                watch=watch,
            )
        # The import's transaction is rolled back, and the run has its final state already.
        except RunCancelled:
            return
        counts: JsonObject = outcome.to_json()
        for kind, number in report.conflicts.items():
            counts[kind] = {**outcome.counts[kind], "conflict": number}
        with transaction.atomic():
            row = IMPORT_RUNS.lock(run.pk)
            if row is None or not row.is_running:
                return
            row.counts = counts
            row.done = row.planned = sum(one.total() for one in outcome.counts.values())
            row.line_count = report.number
            row.save()
            for part in batches(report.lines(row)):
                ImportLine.objects.bulk_create(part)
    end_run(run, JobState.DONE)


class _Spool:
    """Report lines in a file, since they cannot be stored during the import's transaction."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.number = 0
        self.conflicts: dict[str, int] = {}

    def add(self, said: Entry | str) -> None:
        if isinstance(said, str):
            self._write({"severity": "warning", "place": "", "message": said})
            return
        if said.conflict:
            self.conflicts[said.kind] = self.conflicts.get(said.kind, 0) + 1
        # Unchanged objects are only in the counts, or they would fill the report of a second import.
        if said.outcome == Outcome.UNCHANGED and not said.conflict:
            return
        fields: list[Json] = [
            {
                "path": one.path,
                "of": one.of,
                "before": _shorten(one.before),
                "after": _shorten(one.after),
            }
            for one in said.differences[:MAX_FIELDS]
        ]
        more = len(said.differences) - MAX_FIELDS
        self._write(
            {
                "severity": "warning" if said.conflict else "info",
                "kind": said.kind,
                "outcome": said.outcome.value,
                "place": said.title,
                "message": said.conflict
                or (_("%(number)s more fields differ.") % {"number": more} if more > 0 else ""),
                "object": said.object_id,
                "details": fields,
                "conflict": bool(said.conflict),
            }
        )

    def _write(self, line: JsonObject) -> None:
        self.number += 1
        # Further lines are only counted, as in the reports of other imports.
        if self.number <= MAX_LINES:
            self._file.write(orjson.dumps(line) + b"\n")

    def lines(self, run: ImportRun) -> Iterator[ImportLine]:
        self._file.seek(0)
        for text in self._file:
            line = orjson.loads(text)
            yield ImportLine(
                run=run,
                severity=line["severity"],
                kind=line.get("kind", ""),
                outcome=line.get("outcome", ""),
                place=line["place"][:300],
                message=line["message"][:2000],
                object_id=UUID(line["object"]) if line.get("object") else None,
                details=line.get("details", []),
                is_conflict=line.get("conflict", False),
            )


def _shorten(value: Json) -> Json:
    """Return the value for readers: the texts of nested values, the beginning of long texts."""
    if isinstance(value, dict | list):
        value = "\n".join(words_of(None, value)) or json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and len(value) > _VALUE_MAX:
        return value[:_VALUE_MAX] + "…"
    return value
