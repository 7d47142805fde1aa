"""The archive kind of terms."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final
from uuid import UUID

from django.utils.translation import gettext_lazy

from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome
from proofroom.archive.registry import TableKind
from proofroom.archive.rows import Id, IdentifiedRow
from proofroom.core.json import JsonObject
from proofroom.shared_content.archive import NAME as PROPOSALS
from proofroom.shared_content.archive import import_change
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.rules import MAX_TERM_DEPTH
from proofroom.taxonomies.services import change_term, changed_term_document, create_term
from proofroom.taxonomies.shared_kind import TermKind

NAME: Final = "terms"


class TermRow(IdentifiedRow):
    taxonomy: str
    slug: str
    name: str
    locale: str
    parent_id: Id | None
    order_index: int
    description: str | None = None


class TermArchive(TableKind[TermRow, Term]):
    model = Term
    name = NAME
    unique = (("id",), ("taxonomy", "locale", "slug"))
    label = gettext_lazy("Topics and tags")

    def export(self, export: Export) -> Iterator[JsonObject]:
        above = "parent"
        rows = Term.objects.filter(parent=None)
        wanted = export.of_kind(NAME)
        if wanted is not None:
            wanted = _with_ancestors(wanted)
        # One query per level, so that parents come before their children and ids stay in order.
        for _level in range(MAX_TERM_DEPTH):
            for term in rows.order_by("pk").iterator(chunk_size=500):
                if wanted is not None and str(term.pk) not in wanted:
                    continue
                yield {
                    "id": str(term.pk),
                    "taxonomy": term.taxonomy,
                    "slug": term.slug,
                    "name": term.name,
                    "description": term.description,
                    "locale": term.locale,
                    "parentId": str(term.parent_id) if term.parent_id else None,
                    "orderIndex": term.order_index,
                }
            below = {f"{above}__isnull": False, f"{above}__parent__isnull": True}
            rows, above = Term.objects.filter(**below), f"{above}__parent"

    def key(self, row: TermRow) -> dict[str, object]:
        return {"taxonomy": row.taxonomy, "locale": row.locale, "slug": row.slug}

    def title(self, row: TermRow) -> str:
        return row.name

    def write_row(self, row: TermRow, term: Term | None, job: ArchiveImport) -> None:
        if term is None:
            create_term(
                actor=job.actor,
                taxonomy=row.taxonomy,
                name=row.name,
                slug=row.slug,
                description=row.description or "",
                locale=row.locale,
                parent_id=row.parent_id,
                order_index=row.order_index,
                term_id=UUID(row.id),
            )
            # So that the archive's waiting changes of this term are imported, too.
            job.created[PROPOSALS].add(row.id)
            job.tell(NAME, Outcome.CREATED, row.name, row.id)
            return
        document = changed_term_document(
            term,
            name=row.name,
            slug=row.slug,
            description=row.description,
            parent_id=row.parent_id,
        )
        # The position is not part of the document, so it cannot be proposed.
        if row.order_index != term.order_index and job.mode == Mode.UPDATE:
            change_term(term_id=term.pk, actor=job.actor, order_index=row.order_index)
        import_change(job, TermKind(), term.pk, document, name=NAME, title=term.name)


def _with_ancestors(ids: Collection[str]) -> Collection[str]:
    found = set(ids)
    new: set[str] = found
    while new:
        above = Term.objects.filter(pk__in=new, parent__isnull=False)
        # Without the known ids, so that a cycle in stored data ends.
        new = {str(id_) for id_ in above.values_list("parent_id", flat=True)} - found
        found |= new
    return found
