"""Terms as a part of content scopes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from proofroom.core.content_scope import Scoped
from proofroom.core.i18n import in_words
from proofroom.definitions import taxonomies
from proofroom.taxonomies.models import Term

MAX_OFFERED: Final = 200


class TermPart:
    """Terms, labelled with their taxonomy. Every user may see them."""

    def label_all(self, ids: Collection[UUID], who: Scoped) -> dict[UUID, str]:
        return self._label(Term.objects.filter(pk__in=ids))

    def offer(self, who: Scoped) -> dict[UUID, str]:
        return self._label(Term.objects.order_by("taxonomy", "order_index", "name")[:MAX_OFFERED])

    @staticmethod
    def _label(terms: QuerySet[Term]) -> dict[UUID, str]:
        known = {definition.name: definition.label for definition in taxonomies}
        rows = terms.values_list("pk", "taxonomy", "name")
        return {
            pk: f"{in_words(known.get(taxonomy, taxonomy))}: {name}" for pk, taxonomy, name in rows
        }
