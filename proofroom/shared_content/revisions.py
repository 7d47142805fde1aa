"""Revisions of global modules, menus and terms: stored with every write, found, restored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from proofroom.core.actor import Actor
from proofroom.core.database.lookups import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject
from proofroom.shared_content.models import SharedRevision
from proofroom.shared_content.shared_types import SharedKind, SharedRow

MAX_REVISIONS: Final = 200
"""Versions of one row that are kept; the oldest go first."""
RESTORED: Final = "reverted"


@dataclass(frozen=True, slots=True)
class SharedChange:
    """A row that was written: its id, and what it was before (None where it is new) and is now, with versions.

    `earlier_at` is when it became what it was before, None where nobody knows.
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
    """Store a revision for each row. What a row was before is stored too, where no revision holds it yet.

    Call in the transaction of the write, with the rows locked. Two queries.
    """
    ids = [change.row_id for change in changes]
    rows = SharedRevision.objects.filter(kind=kind, row_id__in=ids).order_by()
    latest = dict(rows.values_list("row_id").annotate(latest=Max("version")))
    made: list[SharedRevision] = []
    for change in changes:
        if change.earlier is not None and latest.get(change.row_id, 0) < change.earlier_version:
            made.append(
                SharedRevision(
                    kind=kind,
                    row_id=change.row_id,
                    version=change.earlier_version,
                    document=change.earlier,
                    reason="before",
                    created_at=change.earlier_at,
                )
            )
        made.append(
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
    SharedRevision.objects.bulk_create(made, batch_size=500)
    for change in changes:
        if change.version > MAX_REVISIONS:
            oldest = change.version - MAX_REVISIONS
            SharedRevision.objects.filter(
                kind=kind, row_id=change.row_id, version__lte=oldest
            ).delete()


def list_revisions(kind: str, row_id: UUID) -> QuerySet[SharedRevision]:
    """The revisions of a row, newest first."""
    return SharedRevision.objects.filter(kind=kind, row_id=row_id)


def find_revision(kind: str, row_id: UUID, revision_id: UUID | str) -> SharedRevision:
    """A revision of this very row. Raises `NotFound` for one of another row."""
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
    """Make the live row what one of its revisions holds, with the rights and rules of any edit."""
    actor.require(kind.permission)
    revision = find_revision(kind.name, row_id, revision_id)
    return kind.write(
        row_id=row_id,
        document=revision.document,
        actor=actor,
        expected_version=expected_version,
        reason=RESTORED,
    )


def forget_revisions(kind: str, row_id: UUID) -> None:
    """Delete the revisions of a row that is deleted itself."""
    list_revisions(kind, row_id).delete()
