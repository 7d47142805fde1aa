"""Find and replace in names and descriptions of taxonomy terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proofroom.core.actor import Actor
from proofroom.core.find_replace import Hand, RowRevisions, RowSource
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import clean_line, clean_name
from proofroom.shared_content.revisions import SharedChange, record_revisions
from proofroom.shared_content.shared_types import TERM
from proofroom.taxonomies.models import DESCRIPTION_MAX, NAME_MAX, Term
from proofroom.taxonomies.services import term_document


def _change_term(term: Term, hand: Hand) -> None:
    name = hand.take("name", term.name)
    description = hand.take("description", term.description)
    if hand.places:
        term.name = clean_name(name, NAME_MAX)
        term.description = clean_line("description", description, DESCRIPTION_MAX, lines=True)
        term.version += 1
        hand.settle({"name": term.name, "description": term.description})


def _record_revisions(rows: Sequence[tuple[Term, JsonObject]], actor: Actor, reason: str) -> None:
    changes = [
        SharedChange(term.pk, term.version, term_document(term), term.version - 1, earlier)
        for term, earlier in rows
    ]
    record_revisions(TERM, changes, actor=actor, reason=reason)


TERMS: Final = RowSource(
    table="taxonomies",
    what="taxonomy-term",
    permission="taxonomies.edit",
    rows=Term.objects.all,
    change_row=_change_term,
    texts=("name", "description"),
    touched=("version",),
    revisions=RowRevisions(term_document, _record_revisions),
)
