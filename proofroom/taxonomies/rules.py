"""Rules of taxonomy terms and of their place in the tree."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext as _

from proofroom.core.database.lookups import find_by_id
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n import in_words
from proofroom.definitions import taxonomies
from proofroom.taxonomies.models import ORDER_MAX, Term

UNCHANGED_PARENT: Final = object()
"""Stands for "leave the parent as it is"."""
MAX_TERM_DEPTH: Final = 8


def taxonomy_label(name: str) -> str:
    """Return what a taxonomy is called; its name where it is not defined any more."""
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
    """The parent that a term is to have, which fits it; None for a root."""
    if parent_id is None:
        return None
    definition = taxonomies.get(term.taxonomy)
    if definition is None or not definition.hierarchical:
        raise _refused(_("Terms of %(taxonomy)s have no hierarchy.") % {"taxonomy": term.taxonomy})
    parent = find_by_id(Term.objects, parent_id)
    # A term of another taxonomy is as absent as one that never was.
    if parent is None or parent.taxonomy != term.taxonomy:
        raise _refused(
            _("No term of %(taxonomy)s has the ID %(parent_id)r.")
            % {"taxonomy": term.taxonomy, "parent_id": str(parent_id)[:80]}
        )
    if parent.locale != term.locale:
        raise _refused(_("The parent must be in the same language."))
    above: list[Term] = []
    ancestor = parent.parent
    while ancestor is not None and len(above) <= MAX_TERM_DEPTH:
        above.append(ancestor)
        ancestor = ancestor.parent
    if term.pk in {parent.pk, *(row.pk for row in above)}:
        raise _refused(_("A term cannot be its own parent."), code="parent_cycle")
    # The levels that the term has with those below it.
    level, levels = [term.pk], 0
    while level and levels <= MAX_TERM_DEPTH:
        level = list(Term.objects.filter(parent_id__in=level).values_list("pk", flat=True))
        levels += 1
    if len(above) + 1 + levels > MAX_TERM_DEPTH:
        raise _refused(
            _("A taxonomy can be at most %(deepest)s levels deep.") % {"deepest": MAX_TERM_DEPTH}
        )
    return parent


def _refused(message: str, code: str = "invalid") -> RuleViolation:
    return invalid("parentId", message, code=code)
