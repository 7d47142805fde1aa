"""Translations of the admin: what is translated, and where the texts come from."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy


def in_words(text: str) -> str:
    """Translate a text of a definition or a model into the reader's language."""
    # gettext returns the header of the catalogue for an empty text.
    return gettext(text) if text else ""


def said(choices: Iterable[tuple[str, str | Promise]]) -> list[tuple[str, str | Promise]]:
    """Return choices of a form with lazily translated labels."""
    return [(value, gettext_lazy(str(label))) for value, label in choices]
