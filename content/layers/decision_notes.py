"""The note of a decision."""

from __future__ import annotations

from django.utils.translation import gettext as _

from content.layers.marks import NOTE_MAX
from proofroom.core.errors import invalid


def checked_note(text: str) -> str:
    """The note without what surrounds it. Raises `RuleViolation` on `note` for what no note can be."""
    words = text.strip()
    if len(words) > NOTE_MAX:
        raise invalid("note", _("A note has at most %(most)s characters.") % {"most": NOTE_MAX})
    if any(ord(letter) == 0 or 0xD800 <= ord(letter) <= 0xDFFF for letter in words):
        raise invalid("note", _("The note holds a character that no text can hold."))
    return words
