"""What was typed against what stands now, field by field, with a choice where both changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from content.changes import diff
from content.posts.reference_titles import references_of
from content.review.cards import ChangeCard, cards_between
from proofroom.core.errors import CmsError
from proofroom.editorial.post_editor.form_data import Sheet, edit_of


@dataclass(frozen=True, slots=True)
class ConflictChoice:
    """A difference between what stands and what was typed. `is_both`: others changed it too since it was shown."""

    group: str
    card: ChangeCard
    is_both: bool
    is_field: bool


def choices_of(sheet: Sheet, moved: Collection[str]) -> list[ConflictChoice]:
    """What a save of this form would change, those that others changed too first; nothing for what is refused."""
    try:
        typed = edit_of(sheet, sheet.document)
    except CmsError:
        return []
    sheet.created.clear()
    changes = diff(sheet.document, typed)
    fields = {unit.path for unit in sheet.touched()}
    groups = cards_between(
        sheet.document, typed, changes, references_of(changes, sheet.document, typed)
    )
    found = [
        ConflictChoice(group.name, card, card.path in moved, card.path in fields)
        for group in groups
        for card in group.cards
    ]
    return sorted(found, key=lambda choice: not choice.is_both)
