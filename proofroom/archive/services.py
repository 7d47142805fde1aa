"""Export all content, or a choice of it, as one archive, and import one into a fresh or a filled installation.

An archive is checked as a whole before anything of it is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from proofroom.archive.consistency import numbered_rows
from proofroom.archive.container import ArchiveError, ArchiveManifest, ArchiveReader, ArchiveWriter
from proofroom.archive.event_kinds import EXPORTED, IMPORTED
from proofroom.archive.export import PERMISSION, Choice, Export
from proofroom.archive.imports import ArchiveImport, ImportReport, Listener, Mode, Outcome
from proofroom.archive.registry import archive_kinds
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed
from proofroom.core.json import JsonObject

logger = logging.getLogger(__name__)
PROPOSE: Final = ("posts.create", "posts.edit", "posts.review.save", "media.upload")
"""What somebody needs who proposes what an archive holds."""
Progress = Callable[[str, int], None]
"""Called with the kind and how many of its rows are done."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported. `notes` are sentences on what had to be left out."""

    manifest: ArchiveManifest
    notes: list[str]


def export_archive(
    *,
    target: IO[bytes],
    actor: Actor,
    choice: Choice | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Write the archive into a file that can seek. The same content makes the same bytes, wherever it stands.

    On PostgreSQL the archive is one state of the database, whoever writes meanwhile. Raises `NotAllowed`.
    """
    actor.require_person("export content")
    actor.require(PERMISSION)
    choice = choice or Choice()
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            exported = _write(target, choice, progress)
    else:
        exported = _write(target, choice, progress)
    counts: JsonObject = {
        name.removesuffix(".jsonl"): summary.rows
        for name, summary in exported.manifest.files.items()
    }
    outbox.record(EXPORTED, actor=actor, payload={"counts": counts})
    return exported


def _write(target: IO[bytes], choice: Choice, progress: Progress | None) -> Exported:
    export = Export(ArchiveWriter(target), choice)
    try:
        if choice.is_narrowed:
            for kind in archive_kinds:
                kind.select(export)
        for kind in archive_kinds:
            if export.has_kind(kind.name):
                rows = kind.export(export)
                export.writer.add_rows(kind.name, _counted(rows, kind.name, progress))
    except BaseException:
        export.writer.discard()
        raise
    export.writer.add_rows("people", export.people())
    manifest = export.writer.close(revisions=choice.revisions)
    return Exported(manifest, export.notes)


def _counted(
    rows: Iterator[JsonObject], name: str, progress: Progress | None
) -> Iterator[JsonObject]:
    for number, row in enumerate(rows, start=1):
        yield row
        if progress is not None:
            progress(name, number)


def import_archive(
    *,
    source: Path | IO[bytes],
    actor: Actor,
    mode: Mode = Mode.ADD,
    dry_run: bool = False,
    listener: Listener | None = None,
    watch: Callable[[], None] | None = None,
) -> ImportReport:
    """Bring an archive in, or nothing of one that is damaged or breaks a rule.

    What conflicts with content of this site is left out and named. With `dry_run` the report says what would come
    of it. The whole file is checked first: format, sizes, checksums. Then one transaction stores everything, and
    only its commit lets anything be seen; files that were stored for it are deleted again where it fails. Not to be
    called in a transaction. `watch` is called with every row, and stops the import by raising. Raises `NotAllowed`,
    `ArchiveError`.
    """
    require_mode(actor, mode)
    report = ImportReport(is_dry_run=dry_run)
    with ArchiveReader(source) as reader, ExitStack() as on_failure:
        reader.verify(watch)
        known = {kind.name for kind in archive_kinds} | {"people"}
        unknown = sorted({name.removesuffix(".jsonl") for name in reader.manifest.files} - known)
        if unknown:
            raise ArchiveError(
                _(
                    "The archive contains content that this installation does not "
                    "support: %(kinds)s."
                )
                % {"kinds": ", ".join(unknown)}
            )
        job = ArchiveImport(reader, actor, mode, report, on_failure, listener, watch)
        job.find_people()
        for kind in archive_kinds:
            kind.check(numbered_rows(reader.lines(kind.name), watch))
        for kind in archive_kinds:
            kind.match(job.rows(kind.name, kind.row), job)
        if not dry_run:
            for kind in archive_kinds:
                kind.prepare(job.rows(kind.name, kind.row), job)
        try:
            with transaction.atomic():
                _store(job)
                transaction.set_rollback(dry_run)
        except IntegrityError as error:
            logger.warning("An archive could not be stored: %s", error)
            raise ArchiveError(
                _(
                    "%(name)s.jsonl, on or shortly before line %(number)s: this entry already "
                    "exists in the archive or on this site. Nothing was imported. Export the "
                    "archive again, or remove the line."
                )
                % {"name": job.place[0], "number": job.place[1]}
            ) from error
        except DatabaseError as error:
            raise ArchiveError(
                _("The database rejected the archive: %(reason)s. Nothing was imported.")
                % {"reason": str(error).splitlines()[0][:200]}
            ) from error
        on_failure.pop_all()
    return report


def require_mode(actor: Actor, mode: Mode) -> None:
    """Raise `NotAllowed` unless the actor may import in that mode. Who may write posts may propose an archive;
    everything else needs the rights of who manages the site."""
    actor.require_person("import content")
    for permission in PROPOSE if mode == Mode.PROPOSE else (PERMISSION,):
        actor.require(permission)
    if actor.scopes:
        raise NotAllowed(
            _(
                "An archive can contain content from every part of the site, but your role only "
                "covers some of them."
            ),
            code="outside_of_scope",
        )


def _store(job: ArchiveImport) -> None:
    job.make_people()
    for kind in archive_kinds:
        kind.write(job.rows(kind.name, kind.row), job)
    for kind in archive_kinds:
        kind.finish(job.rows(kind.name, kind.row), job)
    done = sum(
        number
        for counts in job.report.counts.values()
        for outcome, number in counts.items()
        if outcome not in (Outcome.UNCHANGED, Outcome.KEPT)
    )
    if done:
        payload: JsonObject = {"mode": job.mode.value, "counts": job.report.to_json()}
        outbox.record(IMPORTED, actor=job.actor, payload=payload)
