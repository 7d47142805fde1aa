"""Provenance in an archive, with references instead of user ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import Field

from content.models import Provenance, Revision
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.rows import ArchiveRow, Moment, format_moment, read_moment
from proofroom.core.json import JsonObject

_COLUMNS: Final = {
    "path": "path",
    "name": "author_name",
    "agentId": "agent_id",
    "runId": "run_id",
    "via": "via",
    "editedByName": "edited_by_name",
    "approvedByName": "approved_by_name",
}


class ProvenanceRow(ArchiveRow):
    path: str = Field(max_length=300)
    person: str | None
    name: str = Field(max_length=150)
    agent_id: str = Field(max_length=80)
    run_id: str = Field(max_length=40)
    via: str = Field(max_length=10)
    edited_by_name: str = Field(max_length=150)
    approved_by: str | None
    approved_by_name: str = Field(max_length=150)
    written_at: Moment
    created_at: Moment


def provenance_row(row: Provenance, export: Export) -> JsonObject:
    """Return an archive row without the AI client's credential, which is specific to one installation."""
    return {
        **{name: getattr(row, column) for name, column in _COLUMNS.items()},
        "person": export.person(row.author_id),
        "approvedBy": export.person(row.approved_by_id),
        "writtenAt": format_moment(row.written_at),
        "createdAt": format_moment(row.created_at),
    }


def store_provenance(
    revisions: Iterable[tuple[Revision, Sequence[ProvenanceRow]]], job: ArchiveImport
) -> None:
    """Store the provenance of these revisions, in order."""
    made, moments = [], []
    for revision, rows in revisions:
        for row in rows:
            moments.append(read_moment(row.created_at))
            made.append(
                Provenance(
                    post_id=revision.post_id,
                    revision=revision,
                    path=row.path,
                    author_id=job.person(row.person),
                    author_name=row.name,
                    agent_id=row.agent_id,
                    run_id=row.run_id,
                    via=row.via,
                    edited_by_name=row.edited_by_name,
                    approved_by_id=job.person(row.approved_by),
                    approved_by_name=row.approved_by_name,
                    written_at=read_moment(row.written_at),
                )
            )
    Provenance.objects.bulk_create(made, batch_size=500)
    # `auto_now_add` overwrites `created_at` on insert.
    for stored, moment in zip(made, moments, strict=True):
        stored.created_at = moment
    Provenance.objects.bulk_update(made, ["created_at"], batch_size=500)


def rows_by_revision(
    rows: Iterable[Provenance], export: Export
) -> Mapping[object, list[JsonObject]]:
    found: dict[object, list[JsonObject]] = {}
    for row in rows:
        found.setdefault(row.revision_id, []).append(provenance_row(row, export))
    return found
