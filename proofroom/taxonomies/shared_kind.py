"""Terms as a kind of shared content."""

from __future__ import annotations

from copy import copy
from uuid import UUID

from django.utils.translation import gettext_lazy

from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.shared_content.revisions import RESTORED
from proofroom.shared_content.shared_types import TERM, SharedRow
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.rules import UNCHANGED_PARENT
from proofroom.taxonomies.services import change_term, description_in, term_document


class TermKind:
    name = TERM
    label = gettext_lazy("Topics and tags")
    permission = "taxonomies.edit"
    model = Term

    def find(self, row_id: UUID) -> Term | None:
        return Term.objects.filter(pk=row_id).first()

    def with_document(self, row: SharedRow, document: JsonObject) -> Term:
        if not isinstance(row, Term):
            raise TypeError(row)
        changed = copy(row)
        changed.name, changed.slug = str(document["name"]), str(document["slug"])
        changed.description = description_in(document) or ""
        parent = document["parentId"]
        changed.parent = Term.objects.filter(pk=str(parent)).first() if parent else None
        return changed

    def document_of(self, row: SharedRow) -> JsonObject:
        if not isinstance(row, Term):
            raise TypeError(row)
        return term_document(row)

    def portable(self, document: JsonObject) -> JsonObject:
        return document

    def write(
        self,
        *,
        row_id: UUID,
        document: JsonObject,
        actor: Actor,
        expected_version: int | None,
        reason: str,
    ) -> Term:
        parent: object = document["parentId"]
        if reason == RESTORED and parent and not Term.objects.filter(pk=str(parent)).exists():
            # The parent was deleted since. Restore the other values instead of refusing all.
            parent = UNCHANGED_PARENT
        return change_term(
            term_id=row_id,
            actor=actor,
            name=str(document["name"]),
            slug=str(document["slug"]),
            description=description_in(document),
            parent_id=parent,
            expected_version=expected_version,
            reason=reason,
        )
