"""The fields of a form for the template: names, values, choices, errors, origin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.utils.translation import gettext

from proofroom.core.i18n import in_words
from proofroom.core.validation.form_fields import with_label
from proofroom_apps.editorial.post_editor.form import FormUnit
from proofroom_apps.editorial.post_editor.form_fields import (
    ITEMS_MAX,
    PEOPLE,
    PICKED,
    Choice,
    EditorField,
    Typed,
    to_typed,
)
from proofroom_apps.editorial.post_editor.origins import Origin
from proofroom_apps.editorial.posts.extensions import FieldAction

BLANK_INDEX: Final = "__n__"
SUMMARY_LENGTH: Final = 90
_PLAIN_KINDS: Final = frozenset({"text", "textarea"})
_MARKDOWN_MARKS: Final = re.compile(r"[*_#>`\[\]|\\]+|\(https?://[^)]*\)")
Choices = Callable[[EditorField], Sequence[tuple[str, Sequence[Choice]]]]
"""Returns the grouped choices of a reference field."""


@dataclass(slots=True)
class Control:
    """A form control.

    `kind` selects the widget. `items` are the controls of a repeater's items, `parts` the controls of an object.

    `labels` are the items' first words; `blank` is a new item with `BLANK_INDEX` as its number. `creatable` are the
    taxonomies, with labels, in which the user may create terms. `document` is the initial document of a rich-text
    editor; `is_written` is True if the editor sent it and it is not stored yet.
    """

    name: str
    label: str
    kind: str
    help: str
    value: object = ""
    max_length: int | None = None
    is_multiple: bool = False
    groups: list[tuple[str, list[tuple[str, str, bool]]]] = field(default_factory=list)
    items: list[list[Control]] = field(default_factory=list)
    parts: list[Control] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    blank: list[Control] = field(default_factory=list)
    min_items: int = 0
    max_items: int = ITEMS_MAX
    errors: list[str] = field(default_factory=list)
    origin: str = ""
    is_ai: bool = False
    source: Origin | None = None
    document: str = ""
    is_written: bool = False
    among: str = ""
    accepts: str = ""
    creatable: Sequence[tuple[str, str]] = ()
    default: str | None = None
    now: str = ""
    actions: Sequence[FieldAction] = ()
    add_label: str = ""

    @property
    def id(self) -> str:
        return "f-" + self.name.replace(".", "-")

    @property
    def labelled(self) -> list[tuple[str, list[Control], bool]]:
        """The items with their first words, and True for an item with errors."""
        return [
            (label, item, any(part.has_errors for part in item))
            for label, item in zip(self.labels, self.items, strict=True)
        ]

    @property
    def described_by(self) -> str:
        parts = [
            ("help", self.help),
            ("errors", self.errors),
            ("origin", self.origin),
            ("now", self.now),
        ]
        return " ".join(f"{self.id}-{name}" for name, value in parts if value)

    @property
    def creatable_json(self) -> str:
        """The taxonomies of `creatable` as JSON for the script; empty without any."""
        rows = [{"slug": slug, "label": label} for slug, label in self.creatable]
        return json.dumps(rows) if rows else ""

    @property
    def json_preview(self) -> str:
        """JSON shortened to one line, for folded display."""
        return _shorten(" ".join(str(self.value).split()))

    @property
    def below(self) -> list[Control]:
        """The controls of the parts and items."""
        return [*self.parts, *(part for item in self.items for part in item)]

    @property
    def names(self) -> set[str]:
        """The names of this control and all controls below."""
        return {self.name}.union(*(part.names for part in self.below))

    @property
    def has_errors(self) -> bool:
        """True if this control or one below has errors."""
        return bool(self.errors) or any(part.has_errors for part in self.below)

    def to_correct(self, before: str = "") -> list[tuple[str, str]]:
        """Return id and label of each control with errors, here and below. Labels include their parents."""
        label = f"{before} › {self.label}" if before else self.label
        own = [(self.id, label)] if self.errors else []
        return own + [found for part in self.below for found in part.to_correct(label)]


def control_of(
    form_field: EditorField,
    name: str,
    typed: Typed,
    errors: Mapping[str, Sequence[str]],
    choices: Choices,
) -> Control:
    label = in_words(form_field.label)
    control = Control(
        name,
        label,
        form_field.kind,
        in_words(form_field.help),
        typed,
        form_field.max_length,
        is_multiple=form_field.is_list or form_field.kind == PEOPLE,
        accepts=form_field.accepts,
        errors=with_label(label, name, errors.get(name, ())),
    )
    if form_field.kind == "richtext" and isinstance(typed, dict):
        control.value, control.document = typed["markdown"], str(typed["document"])
        control.is_written = True
    elif form_field.kind == "repeater" and isinstance(typed, list):
        control.items = [
            _parts(form_field, f"{name}.{at}", item, errors, choices)
            for at, item in enumerate(typed)
        ]
        control.labels = [item_label(form_field, item) for item in typed]
        values = {inner.name: to_typed(inner, None) for inner in form_field.nested}
        # The script copies it for a new item and puts the item's number in.
        control.blank = _parts(form_field, f"{name}.{BLANK_INDEX}", values, {}, choices)
        control.add_label = in_words(form_field.add_label) or gettext("Add item")
        control.min_items = form_field.min_items
        # A form is read up to this number of items.
        control.max_items = form_field.max_items or ITEMS_MAX
    elif form_field.kind == "object":
        control.parts = _parts(form_field, name, typed, errors, choices)
    elif form_field.choices or form_field.kind in PICKED:
        listed = str(typed).split(",") if form_field.kind == PEOPLE else typed
        chosen = {str(item) for item in listed} if isinstance(listed, list) else {str(listed)}
        own = [(value, in_words(text)) for value, text in form_field.choices]
        offered = [("", own)] if own else choices(form_field)
        groups = [
            (label, [(value, text, value in chosen) for value, text in options])
            for label, options in offered
        ]
        known = {value for _, options in groups for value, _, _ in options}
        # A chosen value that is no longer available must not be lost by saving.
        lost = [
            (value, gettext("(missing) %(value)s") % {"value": value[:8]}, True)
            for value in sorted(chosen - known - {""})
        ]
        control.groups = [*groups, ("", lost)] if lost else groups
        if form_field.kind == PEOPLE and isinstance(listed, list):
            control.groups = [("", _in_order(control.groups, [str(one) for one in listed]))]
    return control


def _in_order(
    groups: Iterable[tuple[str, Sequence[tuple[str, str, bool]]]], chosen: Sequence[str]
) -> list[tuple[str, str, bool]]:
    """Return the options with the chosen ones first, in their order: a form sends them from top to bottom."""
    options = [option for _label, listed in groups for option in listed]
    place = {value: number for number, value in enumerate(chosen)}
    return sorted(options, key=lambda option: place.get(option[0], len(place)))


def _parts(
    form_field: EditorField,
    name: str,
    typed: object,
    errors: Mapping[str, Sequence[str]],
    choices: Choices,
) -> list[Control]:
    values = typed if isinstance(typed, dict) else {}
    return [
        control_of(inner, f"{name}.{inner.name}", values.get(inner.name, ""), errors, choices)
        for inner in form_field.nested
    ]


def summary_of(units: Iterable[FormUnit], typed: Mapping[str, Typed]) -> str:
    """Return the first words of a module."""
    found = (_first_text(unit.field, typed[unit.path]) for unit in units)
    return _shorten(next((words for words in found if words), ""))


def item_label(field: EditorField, item: object) -> str:
    """Return the first words of a list item or object."""
    return _shorten(_first_text_of(field, item))


def _shorten(words: str) -> str:
    return words if len(words) <= SUMMARY_LENGTH else words[: SUMMARY_LENGTH - 1].rstrip() + "…"


def _first_text(field: EditorField, typed: Typed) -> str:
    if field.kind in _PLAIN_KINDS and isinstance(typed, str):
        return " ".join(typed.split())
    if field.kind == "richtext":
        text = _MARKDOWN_MARKS.sub("", str(typed["markdown"] if isinstance(typed, dict) else typed))
        return " ".join(text.split())
    if field.kind == "repeater" and isinstance(typed, list):
        return next((words for item in typed if (words := _first_text_of(field, item))), "")
    return _first_text_of(field, typed) if field.kind == "object" else ""


def _first_text_of(field: EditorField, values: object) -> str:
    """Return the first words among the fields of an object or item."""
    if not isinstance(values, dict):
        return ""
    found = (_first_text(inner, values.get(inner.name, "")) for inner in field.nested)
    return next((words for words in found if words), "")
