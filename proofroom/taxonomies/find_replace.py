"""Find and replace in taxonomy terms: their names."""

from __future__ import annotations

from typing import Final

from proofroom.core.find_replace import Hand, RowSource
from proofroom.core.validation.input_validation import clean_line
from proofroom.taxonomies.models import NAME_MAX, Term


def _change_term(term: Term, hand: Hand) -> None:
    name = hand.take("name", term.name)
    if hand.places:
        term.name = clean_line("name", name, NAME_MAX, required=True)
        hand.settle({"name": term.name})


TERMS: Final = RowSource(
    table="taxonomies",
    what="taxonomy-term",
    permission="taxonomies.edit",
    rows=Term.objects.all,
    change_row=_change_term,
    texts=("name",),
)
