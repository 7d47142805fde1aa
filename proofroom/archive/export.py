"""Export: all content, or a choice of it, as one archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Final

from django.db import connection, transaction

from proofroom.archive.container import ArchiveWriter, Manifest
from proofroom.archive.event_kinds import EXPORTED
from proofroom.archive.kinds import archive_kinds
from proofroom.archive.people import all_references
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject

PERMISSION: Final = "settings.manage"
Progress = Callable[[str, int], None]
"""Called with the kind and how many of its rows are done."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the site to export: everything where nothing is named.

    `kinds` are names of kinds; `post_types` and `locales` narrow the posts, and with them their drafts and
    revisions. Files, terms and what else posts refer to are not narrowed.
    """

    kinds: frozenset[str] = frozenset()
    post_types: frozenset[str] = frozenset()
    locales: frozenset[str] = frozenset()
    revisions: bool = False

    def has_kind(self, name: str) -> bool:
        if name == "revisions":
            return self.revisions
        return not self.kinds or name in self.kinds


@dataclass(slots=True)
class Export:
    """One export while it is written. Kinds add files and name people through it."""

    writer: ArchiveWriter
    choice: Choice
    notes: list[str] = field(default_factory=list)
    _people: dict[int, str] = field(default_factory=all_references)
    _named: set[str] = field(default_factory=set)

    def person(self, user_id: int | None) -> str | None:
        """The reference of an account; None where it is gone."""
        found = self._people.get(user_id) if user_id is not None else None
        if found is not None:
            self._named.add(found)
        return found

    def people(self) -> Iterator[JsonObject]:
        """The people that rows have named so far."""
        for reference in sorted(self._named):
            yield {"person": reference}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported. `notes` are sentences on what had to be left out."""

    manifest: Manifest
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
    for kind in archive_kinds:
        if choice.has_kind(kind.name):
            rows = kind.export(export)
            export.writer.add_rows(kind.name, _counted(rows, kind.name, progress))
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
