"""Texts for mismatches between a translation and its source, for readers and for AI clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.agreement.translation_comparison import (
    COUNTED,
    MismatchKind,
    SourceMismatch,
)
from content.comparison.characters import make_visible
from content.comparison.difference_text import role_text
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name

_LABELS: Final[Mapping[MismatchKind, Promise]] = {
    "module": gettext_lazy("Module"),
    "text": gettext_lazy("Text"),
    "headings": gettext_lazy("Headings"),
    "paragraphs": gettext_lazy("Paragraphs"),
    "list-items": gettext_lazy("List items"),
    "tables": gettext_lazy("Tables"),
    "rows": gettext_lazy("Table rows"),
    "quotes": gettext_lazy("Quotes"),
    "code-blocks": gettext_lazy("Code blocks"),
    "lines": gettext_lazy("Lines"),
    "items": gettext_lazy("Items"),
    "images": gettext_lazy("Images"),
    "link": gettext_lazy("Link"),
    "number": gettext_lazy("Number"),
    "date": gettext_lazy("Date or time"),
    "price": gettext_lazy("Price"),
    "unit": gettext_lazy("Unit"),
    "answer": gettext_lazy("Yes or no"),
    "negation": gettext_lazy("Negation"),
    "name": gettext_lazy("Name"),
    "placeholder": gettext_lazy("Placeholder"),
    "code": gettext_lazy("Code"),
    "setting": gettext_lazy("Setting"),
    "length": gettext_lazy("Length"),
    "language": gettext_lazy("Language"),
}
_ENGLISH: Final[Mapping[MismatchKind, str]] = {
    "link": "the link",
    "number": "the number",
    "date": "the date or time",
    "price": "the price",
    "unit": "the amount and unit",
    "answer": "the answer",
    "name": "the name",
    "placeholder": "the placeholder",
    "code": "the code",
    "setting": "the value",
}


def mismatch_text(one: SourceMismatch) -> str:
    """Return a translated sentence about a mismatch: its place, and the content of both sides."""
    label = str(_LABELS[one.kind])
    source, target = (make_visible(side) for side in (one.source, one.target))
    if one.kind == "language":
        text = _("This text is in %(found)s, and should be in %(expected)s.")
        found = {"found": language_name(target), "expected": language_name(source)}
        return _with_place(one, text % found)
    if one.kind == "module":
        source, target = in_words(source), in_words(target)
    if one.kind == "length":
        text = _("Length: %(source)s characters in the source, %(target)s here")
    elif source and target:
        text = _("%(label)s: %(source)s in the source, %(target)s here")
    elif source:
        text = _("%(label)s missing here: %(source)s")
    else:
        text = _("%(label)s not in the source: %(target)s")
    return _with_place(one, text % {"label": label, "source": source, "target": target})


def _with_place(one: SourceMismatch, text: str) -> str:
    return f"{role_text(one.place)}: {text}" if one.place else text


def advice_text(one: SourceMismatch) -> str:
    """Return an English sentence for AI clients that says how to correct a mismatch."""
    source, target = one.source, one.target
    where = f"{one.place}: " if one.place else ""
    if one.kind in COUNTED:
        name = one.kind.replace("-", " ")
        return f"{where}The source has {source} {name}, the translation {target}. Keep as many as the source."
    match one.kind:
        case "language":
            return f"{where}The text is in {target!r}. Write it in {source!r}."
        case "length":
            return (
                f"{where}The source has {source} characters, the translation {target}. "
                "Translate all of it, and nothing else."
            )
        case "text":
            return f"{where}The source says {source!r}, the translation nothing. Translate it."
        case "module" if source:
            return (
                f"The translation has no module for {source!r} of the source. Keep it, translated."
            )
        case "module":
            return f"The source has no such module {target!r}. Leave it out."
        case "negation" if source:
            return (
                f"{where}The source denies with {source!r}, the translation does not. Deny it too."
            )
        case "negation":
            return f"{where}The translation denies with {target!r}, the source does not. Say what the source says."
    name = _ENGLISH.get(one.kind, one.kind)
    if source and target:
        return f"{where}The source says {source!r}, the translation {target!r}. Keep {name} of the source."
    if source:
        return f"{where}The source has {source!r}, the translation lacks it. Keep {name} of the source."
    return f"{where}The translation has {target!r}, the source does not. Leave it out."
