"""The summary on a closed module card: the first words that stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from proofroom.editorial.post_editor.form import FormUnit
from proofroom.editorial.post_editor.form_fields import EditorField, Typed

SUMMARY_LENGTH: Final = 90
_WORDS: Final = frozenset({"text", "textarea"})
_MARKS: Final = re.compile(r"[*_#>`\[\]|\\]+|\(https?://[^)]*\)")


def summary_of(units: Iterable[FormUnit], typed: Mapping[str, Typed]) -> str:
    """The first words that stand in a module."""
    found = (_first(unit.field, typed[unit.path]) for unit in units)
    return _short(next((words for words in found if words), ""))


def item_label(field: EditorField, item: object) -> str:
    """The first words of an item of a list, or of an object."""
    return _short(_first_of(field, item))


def _short(words: str) -> str:
    return words if len(words) <= SUMMARY_LENGTH else words[: SUMMARY_LENGTH - 1].rstrip() + "…"


def _first(field: EditorField, typed: Typed) -> str:
    if field.kind in _WORDS and isinstance(typed, str):
        return " ".join(typed.split())
    if field.kind == "richtext":
        text = _MARKS.sub("", str(typed["markdown"] if isinstance(typed, dict) else typed))
        return " ".join(text.split())
    if field.kind == "repeater" and isinstance(typed, list):
        return next((words for item in typed if (words := _first_of(field, item))), "")
    return _first_of(field, typed) if field.kind == "object" else ""


def _first_of(field: EditorField, values: object) -> str:
    """The first words among the fields of an object or item."""
    if not isinstance(values, dict):
        return ""
    found = (_first(inner, values.get(inner.name, "")) for inner in field.nested)
    return next((words for words in found if words), "")
