"""Services that export content as an archive, and import an archive into a new or existing installation.

The whole archive is checked before anything is stored.
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
"""Permissions for the mode `PROPOSE`."""
Progress = Callable[[str, int], None]
"""Callback with a kind and the number of its rows done so far."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export. `notes`: sentences about content that was left out."""

    manifest: ArchiveManifest
    notes: list[str]


def export_archive(
    *,
    target: IO[bytes],
    actor: Actor,
    choice: Choice | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Write the archive to a seekable file. Equal content gives equal bytes on every installation.

    On PostgreSQL, the archive is one snapshot of the database. Raises `NotAllowed`.
    """
    actor.require_person("export content")
    actor.require(PERMISSION)
    choice = choice or Choice()
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        with transaction.atomic():
            with connection.cursor() as cursor:
                # All queries then see the same snapshot, while editors go on writing.
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            exported = _write(target, choice, progress)
    else:
        exported = _write(target, choice, progress)
    counts: JsonObject = {
        name.removesuffix(".jsonl"): summary.rows
        for name, summary in exported.manifest.files.items()
    }
    # Outside of the read-only transaction.
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
                export.writer.add_rows(kind.name, _report_progress(rows, kind.name, progress))
    # Also for KeyboardInterrupt: the ZIP must be closed before the caller closes the target.
    except BaseException:
        export.writer.discard()
        raise
    # Last, because only now all references are known.
    export.writer.add_rows("people", export.people())
    manifest = export.writer.close(revisions=choice.revisions)
    return Exported(manifest, export.notes)


def _report_progress(
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
    """Import an archive: all of it, or nothing if it is damaged or breaks a rule.

    Rows that conflict with content of this site are skipped and reported. With `dry_run`, report the expected result
    only. Format, sizes and checksums are checked first. One transaction stores everything, and stored files are
    deleted if it fails. Do not call this in a transaction. `watch` is called for every row and stops the import by
    raising. Raises `NotAllowed`, `ArchiveError`.
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
                # A dry run does all the writes too, so that its report is exact, and then rolls back.
                transaction.set_rollback(dry_run)
        except IntegrityError as error:
            logger.warning("Cannot store an archive: %s", error)
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
        # The import is committed, so the stored files stay.
        on_failure.pop_all()
    return report


def require_mode(actor: Actor, mode: Mode) -> None:
    """Raise `NotAllowed` unless the actor may import in this mode.

    `PROPOSE` needs the rights of an editor, the other modes the right to manage the site.
    """
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
    written = sum(
        number
        for counts in job.report.counts.values()
        for outcome, number in counts.items()
        if outcome not in (Outcome.UNCHANGED, Outcome.KEPT)
    )
    if written:
        payload: JsonObject = {"mode": job.mode.value, "counts": job.report.to_json()}
        outbox.record(IMPORTED, actor=job.actor, payload=payload)
