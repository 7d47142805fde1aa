"""Editorial briefs in an archive, without their earlier versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext_lazy
from pydantic.alias_generators import to_camel

from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome
from proofroom.archive.registry import TableKind
from proofroom.archive.rows import IdentifiedRow
from proofroom.briefs.brief_fields import BriefChanges, NewBrief
from proofroom.briefs.models import Brief
from proofroom.briefs.sections import normalize_section
from proofroom.briefs.services import FIELDS, change_brief, create_brief
from proofroom.core.json import JsonObject
from proofroom.core.validation.errors import validate_input

NAME: Final = "briefs"


class ArchivedBrief(IdentifiedRow):
    """A brief. Its lists are checked by the service that stores it."""

    name: str
    locale: str
    type: str
    section: str
    audience: str
    voice: str
    address: str
    reading_level: str
    never: list[Any]
    terms: list[Any]
    protected_names: list[Any]
    examples: list[Any]


class BriefArchive(TableKind[ArchivedBrief, Brief]):
    model = Brief
    name = NAME
    unique = (("id",), ("locale", "type", "section"))
    label = gettext_lazy("Editorial briefs")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for brief in Brief.objects.order_by("pk").iterator(chunk_size=100):
            yield {"id": str(brief.pk), **_values(brief)}

    def key(self, row: ArchivedBrief) -> dict[str, object]:
        return {"locale": row.locale, "type": row.type, "section": normalize_section(row.section)}

    def title(self, row: ArchivedBrief) -> str:
        return row.name

    def write_row(self, row: ArchivedBrief, brief: Brief | None, job: ArchiveImport) -> None:
        given = row.model_dump(by_alias=True, exclude={"id"})
        here = _values(brief) if brief is not None else {}
        if not job.compare(NAME, row.name, here, given):
            job.tell(NAME, Outcome.UNCHANGED, row.name, row.id)
        elif job.mode == Mode.PROPOSE or (brief is not None and job.mode != Mode.UPDATE):
            job.tell(NAME, Outcome.KEPT, row.name, row.id)
        elif brief is None:
            values = validate_input(given, NewBrief)
            create_brief(actor=job.actor, brief=values, brief_id=UUID(row.id))
            job.tell(NAME, Outcome.CREATED, row.name, row.id)
        else:
            changes = validate_input(given, BriefChanges)
            change_brief(brief_id=brief.pk, actor=job.actor, changes=changes)
            job.tell(NAME, Outcome.UPDATED, row.name, row.id)


def _values(brief: Brief) -> JsonObject:
    return {to_camel(name): getattr(brief, name) for name in FIELDS}
