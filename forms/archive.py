"""Forms in an archive, without submissions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext_lazy

from forms.form_input import input_values
from forms.models import FormDefinition
from forms.services.definitions import create_form, update_form
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome
from proofroom.archive.registry import TableKind
from proofroom.archive.rows import IdentifiedRow
from proofroom.core.json import JsonObject

NAME: Final = "forms"


class FormRow(IdentifiedRow):
    slug: str
    locale: str
    values: dict[str, Any]


class FormArchive(TableKind[FormRow, FormDefinition]):
    model = FormDefinition
    name = NAME
    unique = (("id",), ("slug", "locale"))
    label = gettext_lazy("Forms")

    def export(self, export: Export) -> Iterator[JsonObject]:
        rows = FormDefinition.objects.order_by("pk")
        wanted = export.of_kind(NAME)
        if wanted is not None:
            rows = rows.filter(slug__in=wanted)
        for form in rows.iterator(chunk_size=100):
            yield {
                "id": str(form.pk),
                "slug": form.slug,
                "locale": form.locale,
                "values": input_values(form),
            }

    def key(self, row: FormRow) -> dict[str, object]:
        return {"slug": row.slug, "locale": row.locale}

    def title(self, row: FormRow) -> str:
        return row.slug

    def write_row(self, row: FormRow, form: FormDefinition | None, job: ArchiveImport) -> None:
        if form is None:
            create_form(
                slug=row.slug,
                locale=row.locale,
                values=row.values,
                actor=job.actor,
                form_id=UUID(row.id),
            )
            job.tell(NAME, Outcome.CREATED, row.slug, row.id)
        # Archives of earlier versions have no confirmation.
        elif not job.compare(
            NAME, form.title, input_values(form), {"confirmation": None, **row.values}
        ):
            job.tell(NAME, Outcome.UNCHANGED, row.slug, row.id)
        elif job.mode == Mode.UPDATE:
            update_form(slug=form.slug, locale=form.locale, values=row.values, actor=job.actor)
            job.tell(NAME, Outcome.UPDATED, row.slug, row.id)
        else:
            job.tell(NAME, Outcome.KEPT, row.slug, row.id)
