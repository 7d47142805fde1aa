"""Snippets and post templates in an archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext_lazy

from content.modules.module_copies import read_copies
from content.rules.modules import MODULES_MAX
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome
from proofroom.archive.registry import TableKind
from proofroom.archive.rows import IdentifiedRow
from proofroom.core.json import JsonObject
from proofroom.core.validation.errors import validate_input
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom_apps.snippets.models import PostTemplate, Snippet
from proofroom_apps.snippets.services import change_snippet, create_snippet
from proofroom_apps.snippets.snippet_fields import NewPostTemplate, NewSnippet, SnippetChanges
from proofroom_apps.snippets.templates import store_template

SNIPPETS: Final = "snippets"
TEMPLATES: Final = "post-templates"


class ArchivedSnippet(IdentifiedRow):
    """A snippet. Its content is checked by the service that stores it."""

    name: str
    kind: str
    modules: list[Any]
    text: dict[str, Any] | None
    types: list[Any]
    locale: str


class ArchivedTemplate(IdentifiedRow):
    name: str
    description: str
    type: str
    locale: str
    fields: dict[str, Any]
    modules: list[Any]


class SnippetArchive(TableKind[ArchivedSnippet, Snippet]):
    model = Snippet
    name = SNIPPETS
    unique = (("id",), ("name",))
    label = gettext_lazy("Snippets")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for row in Snippet.objects.order_by("pk").iterator(chunk_size=100):
            yield {"id": str(row.pk), **_snippet_values(row)}

    def key(self, row: ArchivedSnippet) -> dict[str, object]:
        return {"name": row.name}

    def title(self, row: ArchivedSnippet) -> str:
        return row.name

    def write_row(self, row: ArchivedSnippet, here: Snippet | None, job: ArchiveImport) -> None:
        given = row.model_dump(by_alias=True, exclude={"id"})
        stored = _snippet_values(here) if here is not None else {}
        if not job.compare(SNIPPETS, row.name, stored, given):
            job.tell(SNIPPETS, Outcome.UNCHANGED, row.name, row.id)
        elif job.mode == Mode.PROPOSE or (here is not None and job.mode != Mode.UPDATE):
            job.tell(SNIPPETS, Outcome.KEPT, row.name, row.id)
        elif here is None:
            values = validate_input(given, NewSnippet)
            create_snippet(actor=job.actor, snippet=values, snippet_id=UUID(row.id))
            job.tell(SNIPPETS, Outcome.CREATED, row.name, row.id)
        else:
            changes = validate_input(given, SnippetChanges)
            change_snippet(snippet_id=here.pk, actor=job.actor, changes=changes)
            job.tell(SNIPPETS, Outcome.UPDATED, row.name, row.id)


class TemplateArchive(TableKind[ArchivedTemplate, PostTemplate]):
    """Templates. An import adds them and never changes one, because they are replaced as a whole."""

    model = PostTemplate
    name = TEMPLATES
    unique = (("id",), ("name",))
    label = gettext_lazy("Post templates")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for row in PostTemplate.objects.order_by("pk").iterator(chunk_size=100):
            yield {"id": str(row.pk), **_template_values(row)}

    def key(self, row: ArchivedTemplate) -> dict[str, object]:
        return {"name": row.name}

    def title(self, row: ArchivedTemplate) -> str:
        return row.name

    def write_row(
        self, row: ArchivedTemplate, here: PostTemplate | None, job: ArchiveImport
    ) -> None:
        given = row.model_dump(by_alias=True, exclude={"id"})
        stored = _template_values(here) if here is not None else {}
        if not job.compare(TEMPLATES, row.name, stored, given):
            job.tell(TEMPLATES, Outcome.UNCHANGED, row.name, row.id)
            return
        if job.mode == Mode.PROPOSE or here is not None:
            job.tell(TEMPLATES, Outcome.KEPT, row.name, row.id)
            return
        named = {"post": row.id, "name": row.name, "description": row.description}
        values = validate_input(named, NewPostTemplate)
        reject_unstorable(row.fields, "fields")
        new = PostTemplate(
            id=UUID(row.id),
            type=row.type,
            locale=row.locale,
            fields=row.fields,
            modules=_stored_copies(row.modules),
        )
        store_template(new, actor=job.actor, name=values.name, description=values.description or "")
        job.tell(TEMPLATES, Outcome.CREATED, row.name, row.id)


def _stored_copies(modules: list[Any]) -> list[Any]:
    """Return the modules of a template as they are stored, with their locks. Raises `RuleViolation` by path."""
    if not modules:
        return []
    return [
        {**copy.to_json(), "locked": True} if given.get("locked") else copy.to_json()
        for copy, given in zip(read_copies(modules, most=MODULES_MAX), modules, strict=True)
    ]


def _snippet_values(row: Snippet) -> JsonObject:
    return {
        "name": row.name,
        "kind": row.kind,
        "modules": row.modules,
        "text": row.text,
        "types": row.types,
        "locale": row.locale,
    }


def _template_values(row: PostTemplate) -> JsonObject:
    return {
        "name": row.name,
        "description": row.description,
        "type": row.type,
        "locale": row.locale,
        "fields": row.fields,
        "modules": row.modules,
    }
