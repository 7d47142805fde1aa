"""The words of the admin in the languages it speaks: what is translated, and where the words come from."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy


def in_words(text: str) -> str:
    """A word of a definition or a model in the reader's language.

    gettext answers the head of the catalogue for an empty text.
    """
    return gettext(text) if text else ""


def said(choices: Iterable[tuple[str, str | Promise]]) -> list[tuple[str, str | Promise]]:
    """Choices of a form whose labels are said in the language of whoever reads it."""
    return [(value, gettext_lazy(str(label))) for value, label in choices]
