"""Rules of taxonomy terms and their tree."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext as _

from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n import in_words
from proofroom.definitions import taxonomies
from proofroom.taxonomies.models import ORDER_MAX, Term

UNCHANGED_PARENT: Final = object()
"""Sentinel for an unchanged parent. None means no parent."""
MAX_TERM_DEPTH: Final = 8


def taxonomy_label(name: str) -> str:
    """Return the label of a taxonomy, or its name if it is no longer defined."""
    definition = taxonomies.get(name)
    return in_words(definition.label) if definition else name


def clean_order(value: int) -> int:
    if not -ORDER_MAX <= value <= ORDER_MAX:
        raise invalid(
            "orderIndex",
            _("orderIndex must be between -%(order_max)s and %(order_max)s.")
            % {"order_max": f"{ORDER_MAX:,}"},
        )
    return value


def parent_of(term: Term, parent_id: object) -> Term | None:
    """Return the new parent of a term, or None for a root. Raises `RuleViolation` if it does not fit."""
    if parent_id is None:
        return None
    definition = taxonomies.get(term.taxonomy)
    if definition is None or not definition.hierarchical:
        raise _refused(_("Terms of %(taxonomy)s have no hierarchy.") % {"taxonomy": term.taxonomy})
    parent = find_by_id(Term.objects, parent_id)
    # For a term of another taxonomy, give the same answer as for an unknown id.
    if parent is None or parent.taxonomy != term.taxonomy:
        raise _refused(
            _("No term of %(taxonomy)s has the ID %(parent_id)r.")
            % {"taxonomy": term.taxonomy, "parent_id": str(parent_id)[:80]}
        )
    if parent.locale != term.locale:
        raise _refused(_("The parent must be in the same language."))
    ancestors: list[Term] = []
    ancestor = parent.parent
    # Deeper trees are refused, so counting stops here. This also ends a cycle in stored data.
    while ancestor is not None and len(ancestors) <= MAX_TERM_DEPTH:
        ancestors.append(ancestor)
        ancestor = ancestor.parent
    if term.pk in {parent.pk, *(row.pk for row in ancestors)}:
        raise _refused(_("A term cannot be its own parent."), code="parent_cycle")
    # Count the levels of the term and its descendants.
    level, levels = [term.pk], 0
    while level and levels <= MAX_TERM_DEPTH:
        level = list(Term.objects.filter(parent_id__in=level).values_list("pk", flat=True))
        levels += 1
    if len(ancestors) + 1 + levels > MAX_TERM_DEPTH:
        raise _refused(
            _("A taxonomy can be at most %(deepest)s levels deep.") % {"deepest": MAX_TERM_DEPTH}
        )
    return parent


def _refused(message: str, code: str = "invalid") -> RuleViolation:
    return invalid("parentId", message, code=code)
