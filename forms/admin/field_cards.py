"""The cards of the form builder: the fields of a form as inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forms.fields import CHOICE_TYPES, MAX_FILE_BYTES, MAX_LENGTHS, OPERATORS_WITHOUT_VALUE
from forms.file_types import FILE_KINDS, expand_types
from proofroom.core.json import JsonObject
from proofroom.core.validation.form_fields import with_label

KINDS: Final = {
    "text": gettext_lazy("Single-line text"),
    "textarea": gettext_lazy("Multi-line text"),
    "email": gettext_lazy("Email address"),
    "tel": gettext_lazy("Phone number"),
    "url": gettext_lazy("Web address"),
    "number": gettext_lazy("Number"),
    "date": gettext_lazy("Date"),
    "select": gettext_lazy("Dropdown"),
    "radio": gettext_lazy("Single choice"),
    "checkboxes": gettext_lazy("Multiple choice"),
    "checkbox": gettext_lazy("Checkbox"),
    "file": gettext_lazy("File"),
    "step": gettext_lazy("Step"),
}
_LABELS: Final = {
    "label": gettext_lazy("Label"),
    "type": gettext_lazy("Type"),
    "options": gettext_lazy("Options, one per line"),
    "help": gettext_lazy("Help text"),
    "name": gettext_lazy("Field name"),
    "placeholder": gettext_lazy("Placeholder"),
    "minLength": gettext_lazy("Minimum length"),
    "maxLength": gettext_lazy("Maximum length"),
    "pattern": gettext_lazy("Pattern"),
    "accept": gettext_lazy("Accepted files"),
    "maxBytes": gettext_lazy("Maximum size (MB)"),
    "showIf": gettext_lazy("Show"),
}
_COMPARISONS: Final = {
    "equals": gettext_lazy("is"),
    "notEquals": gettext_lazy("is not"),
    "contains": gettext_lazy("contains"),
    "notContains": gettext_lazy("does not contain"),
    "isNotEmpty": gettext_lazy("is filled in"),
    "isEmpty": gettext_lazy("is empty"),
}
_CHECKED: Final = {
    "isNotEmpty": gettext_lazy("is checked"),
    "isEmpty": gettext_lazy("is not checked"),
}
_OFFERED: Final = {
    "checkbox": ("isNotEmpty", "isEmpty"),
    "file": ("isNotEmpty", "isEmpty"),
    "checkboxes": ("contains", "notContains", "isNotEmpty", "isEmpty"),
    "radio": ("equals", "notEquals", "isNotEmpty", "isEmpty"),
    "select": ("equals", "notEquals", "isNotEmpty", "isEmpty"),
}
"""Comparisons by the type of the field that a condition asks for; other types have all."""
BYTES_PER_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FieldCard:
    """A field on the page. `key` is part of its input names."""

    key: int
    field: JsonObject
    errors: Sequence[str]
    is_new: bool
    others: Sequence[JsonObject]
    """The other fields with a name, which a condition can ask for."""

    @property
    def kind(self) -> str:
        return str(KINDS.get(self.type, self.type))

    @property
    def type(self) -> str:
        return str(self.field.get("type", ""))

    @property
    def is_step(self) -> bool:
        return self.type == "step"

    @property
    def is_file(self) -> bool:
        return self.type == "file"

    @property
    def has_options(self) -> bool:
        return self.type in CHOICE_TYPES

    @property
    def has_lengths(self) -> bool:
        return self.type in MAX_LENGTHS

    @property
    def has_pattern(self) -> bool:
        return self.has_lengths and self.type != "textarea"

    @property
    def options(self) -> str:
        return "\n".join(self.option_list)

    @property
    def option_list(self) -> list[str]:
        return _options_of(self.field)

    @property
    def accepted(self) -> list[tuple[str, str, bool]]:
        """Media type, name, and whether the field accepts it."""
        accept = self.field.get("accept")
        chosen = expand_types([str(one) for one in accept] if isinstance(accept, list) else None)
        return [(name, kind.label, name in chosen) for name, kind in FILE_KINDS.items()]

    @property
    def megabytes(self) -> str:
        size = self.field.get("maxBytes")
        if isinstance(size, int):
            return f"{size / BYTES_PER_MEGABYTE:.2f}".rstrip("0").rstrip(".")
        return "" if size is None else str(size)

    @property
    def most_megabytes(self) -> int:
        return MAX_FILE_BYTES // BYTES_PER_MEGABYTE

    @property
    def condition(self) -> JsonObject:
        found = self.field.get("showIf")
        return found if isinstance(found, dict) else {}

    @property
    def condition_field(self) -> JsonObject | None:
        """The field that the condition asks for."""
        name = self.condition.get("field")
        return next((one for one in self.others if one.get("name") == name), None)

    @property
    def comparisons(self) -> list[tuple[str, str | Promise, bool]]:
        """Operator, its words, and whether it is chosen."""
        other = self.condition_field or {}
        type_, own = str(other.get("type")), str(self.condition.get("operator", ""))
        words = _COMPARISONS | (_CHECKED if type_ == "checkbox" else {})
        names = _OFFERED.get(type_, tuple(_COMPARISONS))
        # One that was sent over the API stays available.
        names = names if own in names or own not in words else (*names, own)
        return [(name, words[name], name == own) for name in names]

    @property
    def chosen_comparison(self) -> str:
        return next(
            (name for name, _words, is_chosen in self.comparisons if is_chosen),
            self.comparisons[0][0],
        )

    @property
    def needs_value(self) -> bool:
        return self.chosen_comparison not in OPERATORS_WITHOUT_VALUE

    @property
    def condition_options(self) -> list[str]:
        """The options of the other field; none for a text."""
        return _options_of(self.condition_field or {})

    @property
    def condition_words(self) -> str:
        """The condition as a sentence for the preview."""
        other = self.condition_field
        if other is None:
            return ""
        words = {name: words for name, words, _is_chosen in self.comparisons}
        parts = (other.get("label"), words[self.chosen_comparison])
        value = f" “{self.condition.get('value', '')}”" if self.needs_value else ""
        return _("Only if %(condition)s") % {
            "condition": " ".join(map(str, parts)) + value,
        }


def _options_of(field: JsonObject) -> list[str]:
    options = field.get("options")
    return [str(option) for option in options] if isinstance(options, list) else []


def build_cards(
    rows: Sequence[JsonObject], errors: Mapping[str, Sequence[str]], new: int | None
) -> list[FieldCard]:
    """Return the fields with their errors, which are keyed like `fields.0.label`."""
    named = [row for row in rows if row.get("name") and row.get("type") != "step"]
    return [
        FieldCard(
            place,
            row,
            list(_texts_of_errors(f"fields.{place}", errors)),
            place == new,
            [other for other in named if other is not row],
        )
        for place, row in enumerate(rows)
    ]


def _texts_of_errors(own: str, errors: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for key, sentences in errors.items():
        if key != own and not key.startswith(f"{own}."):
            continue
        # Errors of a part are shown with the label on the card.
        part = key.removeprefix(own).removeprefix(".")
        label = str(_LABELS.get(part.partition(".")[0], ""))
        if not label:
            yield from sentences
            continue
        for text, sentence in zip(with_label(label, part, sentences), sentences, strict=True):
            is_named = text != sentence
            yield text if is_named else _("%(label)s: %(text)s") % {"label": label, "text": text}
