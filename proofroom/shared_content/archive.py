"""Import of shared content, live or as a proposal, and the archive kind of waiting proposals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome, refused
from proofroom.archive.registry import ArchiveKind
from proofroom.archive.rows import ArchiveRow, Id, Moment, format_moment, read_moment
from proofroom.core.errors import CmsError, NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.shared_content.approval import APPROVED
from proofroom.shared_content.models import ProposalState, SharedProposal
from proofroom.shared_content.proposals import TITLE_MAX, find_waiting_proposal, propose_change
from proofroom.shared_content.shared_types import SharedKind, find_kind, shared_kinds

NAME: Final = "proposals"


def import_change(
    job: ArchiveImport,
    kind: SharedKind,
    row_id: UUID,
    document: JsonObject,
    *,
    name: str,
    title: str,
) -> None:
    """Apply the archived document to the row, or propose it. The rules of a write have checked `document`.

    `name`: the kind in the archive. A waiting change is not replaced.
    """
    row = kind.find(row_id)
    if row is None:
        raise TypeError(row_id)
    if not job.compare(name, title, kind.document_of(row), document):
        job.tell(name, Outcome.UNCHANGED, title)
        return
    if job.mode == Mode.UPDATE:
        kind.write(
            row_id=row_id,
            document=document,
            actor=job.actor,
            expected_version=None,
            reason="edited",
        )
        job.tell(name, Outcome.UPDATED, title, str(row_id))
        return
    waiting = find_waiting_proposal(kind.name, row_id)
    if waiting is not None and waiting.document != document:
        job.conflict(_("Another change is waiting for approval. It is not replaced."))
        job.tell(name, Outcome.KEPT, title, str(row_id))
        return
    if waiting is None:
        propose_change(
            kind=kind,
            row_id=row_id,
            document=document,
            actor=job.actor,
            expected_version=None,
            expected_proposal=None,
        )
    job.tell(name, Outcome.PROPOSED, title, str(row_id))


class ProposalRow(ArchiveRow):
    """A change of shared content that waits for approval. `is_stale`: its row was changed after it was written."""

    id: Id
    kind: str = Field(max_length=20)
    row: Id
    title: str = Field(max_length=TITLE_MAX)
    base: dict[str, Any]
    document: dict[str, Any]
    is_stale: bool
    version: int = Field(ge=1, le=2**31 - 1)
    writers: list[str]
    by: str | None
    by_name: str = Field(max_length=150)
    created_at: Moment
    updated_at: Moment


class ProposalArchive(ArchiveKind[ProposalRow]):
    """Waiting changes of menus, terms and global modules. Imported only for rows that this import created."""

    name = NAME
    unique = (("id",), ("kind", "row"))
    label = gettext_lazy("Changes waiting for approval")

    def export(self, export: Export) -> Iterator[JsonObject]:
        waiting = SharedProposal.objects.filter(state=ProposalState.WAITING).order_by("pk")
        for proposal in waiting.iterator(chunk_size=100):
            kind = shared_kinds.get(proposal.kind)
            row = kind.find(proposal.row_id) if kind is not None else None
            if kind is not None and row is not None:
                people = [export.person(id_) for id_ in proposal.writers]
                yield {
                    "id": str(proposal.pk),
                    "kind": proposal.kind,
                    "row": str(proposal.row_id),
                    "title": proposal.title,
                    "base": kind.portable(proposal.base),
                    "document": kind.portable(proposal.document),
                    "isStale": proposal.base_version != row.version,
                    "version": proposal.version,
                    "writers": sorted(person for person in people if person is not None),
                    "by": export.person(proposal.by_id),
                    "byName": proposal.by_name,
                    "createdAt": format_moment(proposal.created_at),
                    "updatedAt": format_moment(proposal.updated_at),
                }

    def write(self, rows: Iterator[ProposalRow], job: ArchiveImport) -> None:
        for row in rows:
            known = SharedProposal.objects.filter(kind=row.kind, row_id=row.row)
            # A row that existed here before may have other waiting changes, which must not be replaced.
            if job.mode == Mode.PROPOSE or row.row not in job.created[NAME]:
                kind = shared_kinds.get(row.kind)
                waiting = known.values_list("document", flat=True) if kind is not None else ()
                is_same = kind is not None and row.document in map(kind.portable, waiting)
                job.tell(NAME, Outcome.UNCHANGED if is_same else Outcome.KEPT, row.title)
                continue
            try:
                self._create(row, job)
            except CmsError as error:
                raise refused(NAME, row.title, error) from error
            job.tell(NAME, Outcome.CREATED, row.title, row.id)

    def _create(self, row: ProposalRow, job: ArchiveImport) -> None:
        kind = find_kind(row.kind)
        target = kind.find(UUID(row.row))
        if target is None:
            raise NotFound(_("The content that this change belongs to is not on this site."))
        try:
            # Write the change as its approval would, so that all rules check it, and roll back.
            with transaction.atomic():
                kind.with_document(target, row.base)
                written = kind.write(
                    row_id=UUID(row.row),
                    document=row.document,
                    actor=job.actor,
                    expected_version=None,
                    reason=APPROVED,
                )
                document = kind.document_of(written)
                transaction.set_rollback(True)
            here = kind.document_of(target)
            if not row.is_stale and kind.portable(row.base) != kind.portable(here):
                raise invalid(
                    "base", _("The change was made from another version of this content.")
                )
        # The document is a free-form JSON object of the archive, so the kind can fail on any missing or wrong value.
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise invalid("document", _("The change has an invalid format.")) from error
        proposal = SharedProposal.objects.create(
            id=UUID(row.id),
            kind=row.kind,
            row_id=UUID(row.row),
            title=row.title,
            base=row.base if row.is_stale else here,
            # Version 0 never matches, so a stale change cannot be approved before it is updated.
            base_version=0 if row.is_stale else target.version,
            document=document,
            version=row.version,
            writers=sorted({id_ for name in row.writers if (id_ := job.person(name)) is not None}),
            by_id=job.person(row.by),
            by_name=row.by_name,
        )
        # `auto_now` and `auto_now_add` overwrite these fields on save, so they are set by an update.
        SharedProposal.objects.filter(pk=proposal.pk).update(
            created_at=read_moment(row.created_at), updated_at=read_moment(row.updated_at)
        )
