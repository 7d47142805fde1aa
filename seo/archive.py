"""Redirects in an archive, without their number of hits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from django.utils.translation import gettext_lazy

from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome
from proofroom.archive.registry import TableKind
from proofroom.archive.rows import IdentifiedRow
from proofroom.core.json import JsonObject
from seo.models import NewRedirect, Redirect, RedirectChanges
from seo.redirect_paths import key_of
from seo.services.redirects import change_redirect, create_redirect

NAME: Final = "redirects"


class RedirectRow(IdentifiedRow):
    from_path: str
    to_path: str
    type: int
    active: bool
    automatic: bool


class RedirectArchive(TableKind[RedirectRow, Redirect]):
    model = Redirect
    name = NAME
    unique = (("id",), ("fromPath",))
    label = gettext_lazy("Redirects")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for row in Redirect.objects.order_by("pk").iterator(chunk_size=500):
            yield {"id": str(row.pk), **_values(row), "automatic": row.is_automatic}

    def key(self, row: RedirectRow) -> dict[str, object]:
        return {"from_key": key_of(row.from_path)}

    def title(self, row: RedirectRow) -> str:
        return row.from_path

    def write_row(self, row: RedirectRow, redirect: Redirect | None, job: ArchiveImport) -> None:
        given: JsonObject = {
            "fromPath": row.from_path,
            "toPath": row.to_path,
            "type": row.type,
            "active": row.active,
        }
        here = _values(redirect) if redirect is not None else {}
        if not job.compare(NAME, row.from_path, here, given):
            job.tell(NAME, Outcome.UNCHANGED, row.from_path, row.id)
        elif job.mode == Mode.PROPOSE or (redirect is not None and job.mode != Mode.UPDATE):
            job.tell(NAME, Outcome.KEPT, row.from_path, row.id)
        elif redirect is None:
            create_redirect(
                actor=job.actor,
                redirect=NewRedirect.model_validate(given),
                redirect_id=UUID(row.id),
                is_automatic=row.automatic,
            )
            job.tell(NAME, Outcome.CREATED, row.from_path, row.id)
        else:
            changes = RedirectChanges.model_validate(given)
            change_redirect(actor=job.actor, redirect_id=redirect.pk, changes=changes)
            job.tell(NAME, Outcome.UPDATED, row.from_path, row.id)


def _values(row: Redirect) -> JsonObject:
    return {
        "fromPath": row.from_path,
        "toPath": row.to_path,
        "type": row.type,
        "active": row.is_active,
    }
