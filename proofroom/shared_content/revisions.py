"""Services for revisions of global modules, menus and terms: record, find and restore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject
from proofroom.shared_content.models import SharedRevision
from proofroom.shared_content.shared_types import SharedKind, SharedRow

MAX_REVISIONS: Final = 200
"""Largest number of revisions of a row. The oldest are deleted first."""
RESTORED: Final = "reverted"


@dataclass(frozen=True, slots=True)
class SharedChange:
    """A written row: its id and version, its document, and the document and version before (none if it is new).

    `earlier_at`: time of the earlier version, None if unknown.
    """

    row_id: UUID
    version: int
    document: JsonObject
    earlier_version: int = 0
    earlier: JsonObject | None = None
    earlier_at: datetime | None = None


def record_revisions(
    kind: str, changes: Sequence[SharedChange], *, actor: Actor, reason: str
) -> None:
    """Store a revision of each row. Also store the earlier version if no revision has it yet.

    Call in the transaction of the write, with the rows locked. Two queries.
    """
    ids = [change.row_id for change in changes]
    rows = SharedRevision.objects.filter(kind=kind, row_id__in=ids).order_by()
    latest = dict(rows.values_list("row_id").annotate(latest=Max("version")))
    revisions: list[SharedRevision] = []
    for change in changes:
        # Rows written before revisions were recorded have none of their last state.
        if change.earlier is not None and latest.get(change.row_id, 0) < change.earlier_version:
            revisions.append(
                SharedRevision(
                    kind=kind,
                    row_id=change.row_id,
                    version=change.earlier_version,
                    document=change.earlier,
                    reason="before",
                    created_at=change.earlier_at,
                )
            )
        revisions.append(
            SharedRevision(
                kind=kind,
                row_id=change.row_id,
                version=change.version,
                document=change.document,
                reason=reason,
                by_id=actor.user.pk,
                by_name=actor.user.username,
            )
        )
    SharedRevision.objects.bulk_create(revisions, batch_size=500)
    for change in changes:
        if change.version > MAX_REVISIONS:
            oldest = change.version - MAX_REVISIONS
            SharedRevision.objects.filter(
                kind=kind, row_id=change.row_id, version__lte=oldest
            ).delete()


def list_revisions(kind: str, row_id: UUID) -> QuerySet[SharedRevision]:
    """Return the revisions of a row, newest first."""
    return SharedRevision.objects.filter(kind=kind, row_id=row_id)


def find_revision(kind: str, row_id: UUID, revision_id: UUID | str) -> SharedRevision:
    """Return a revision of this row. Raises `NotFound`, also for a revision of another row."""
    found = find_by_id(list_revisions(kind, row_id), revision_id)
    if found is None:
        raise NotFound(_("No revision has the ID %(id)s.") % {"id": str(revision_id)[:80]})
    return found


def restore_revision(
    *,
    kind: SharedKind,
    row_id: UUID,
    revision_id: UUID | str,
    actor: Actor,
    expected_version: int | None = None,
) -> SharedRow:
    """Write the content of a revision to the live row, with the permissions and rules of an edit."""
    actor.require(kind.permission)
    revision = find_revision(kind.name, row_id, revision_id)
    return kind.write(
        row_id=row_id,
        document=revision.document,
        actor=actor,
        expected_version=expected_version,
        reason=RESTORED,
    )


def delete_revisions(kind: str, row_id: UUID) -> None:
    """Delete the revisions of a deleted row."""
    list_revisions(kind, row_id).delete()
