"""The words of the admin in the languages it speaks: what is translated, and where the words come from."""

from __future__ import annotations

from django.utils.translation import gettext


def in_words(text: str) -> str:
    """A word of a definition or a model in the reader's language.

    gettext answers the head of the catalogue for an empty text.
    """
    return gettext(text) if text else ""
