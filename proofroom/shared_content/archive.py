"""Brings a change of shared content in from an archive: live, or for approval."""

from __future__ import annotations

from uuid import UUID

from proofroom.archive.imports import Import, Mode, Outcome
from proofroom.core.json import JsonObject
from proofroom.shared_content.kinds import SharedKind
from proofroom.shared_content.proposals import propose_change, waiting_for


def import_change(
    job: Import, kind: SharedKind, row_id: UUID, document: JsonObject, *, name: str, title: str
) -> None:
    """Make the row what the archive says, or propose that. `document` is checked by the rules of a write.

    `name` is the kind in the archive. A change that waits already gives way to this one.
    """
    row = kind.find(row_id)
    if row is None:
        raise TypeError(row_id)
    if not job.compare(name, title, kind.document_of(row), document):
        job.tell(name, Outcome.UNCHANGED)
        return
    if job.mode == Mode.UPDATE:
        kind.write(
            row_id=row_id,
            document=document,
            actor=job.actor,
            expected_version=None,
            reason="edited",
        )
        job.tell(name, Outcome.UPDATED)
        return
    waiting = waiting_for(kind.name, row_id)
    if waiting is None or waiting.document != document:
        propose_change(
            kind=kind,
            row_id=row_id,
            document=document,
            actor=job.actor,
            expected_version=None,
            expected_proposal=waiting.version if waiting else None,
        )
    job.tell(name, Outcome.PROPOSED)
