"""The fields of a form as cards: read from what was sent, moved, added, copied, taken out."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forms.fields import MAX_FIELDS, MAX_LENGTHS
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.form_fields import with_label
from proofroom.core.validation.input_validation import refuse_unstorable

KINDS: Final = {
    "text": gettext_lazy("One line of text"),
    "textarea": gettext_lazy("Several lines of text"),
    "email": gettext_lazy("Email address"),
    "tel": gettext_lazy("Phone number"),
    "url": gettext_lazy("Web address"),
    "number": gettext_lazy("Number"),
    "date": gettext_lazy("Date"),
    "select": gettext_lazy("Choice from a list"),
    "checkbox": gettext_lazy("Box to tick"),
}
_LABELS: Final = {
    "label": gettext_lazy("Label"),
    "type": gettext_lazy("Type"),
    "options": gettext_lazy("Options, one on each line"),
    "help": gettext_lazy("Help below the label"),
    "name": gettext_lazy("Name for programs"),
    "placeholder": gettext_lazy("Example inside"),
    "minLength": gettext_lazy("At least so many characters"),
    "maxLength": gettext_lazy("At most so many"),
    "pattern": gettext_lazy("Pattern that it must fit"),
}
_TEXTS: Final = ("name", "label", "type", "placeholder", "help", "pattern")
_NUMBERS: Final = ("minLength", "maxLength")


@dataclass(frozen=True, slots=True)
class FieldCard:
    """A field as the page shows it. `key` names its inputs."""

    key: int
    field: JsonObject
    errors: Sequence[str]
    is_new: bool

    @property
    def kind(self) -> str:
        return str(KINDS.get(self.type, self.type))

    @property
    def type(self) -> str:
        return str(self.field.get("type", ""))

    @property
    def has_options(self) -> bool:
        return self.type == "select"

    @property
    def has_lengths(self) -> bool:
        return self.type in MAX_LENGTHS

    @property
    def has_pattern(self) -> bool:
        return self.has_lengths and self.type != "textarea"

    @property
    def options(self) -> str:
        options = self.field.get("options")
        return "\n".join(map(str, options)) if isinstance(options, list) else ""


def read_fields(data: QueryDict) -> Json:
    """The fields that a form sent: as JSON where a script did, else card by card. Raises `ValueError`."""
    if "questions" in data:
        return read_json(str(data["questions"]))
    return [_read_card(data, key) for key in data.getlist("row")[: MAX_FIELDS + 1]]


def name_fields(questions: Json) -> Json:
    """The fields, those without a name with one that comes from the label."""
    taken = {str(row.get("name")) for row in objects_in(questions)}
    # One more than there may be is refused anyway.
    for row in objects_in(questions)[: MAX_FIELDS + 1]:
        if row.get("name") == "":
            row["name"] = name_for(str(row.get("label", "")), taken)
            taken.add(str(row["name"]))
    return questions


def read_json(text: str) -> Json:
    """Raises `ValueError` with what is wrong."""
    try:
        found: Json = json.loads(text)
        refuse_unstorable(found, "fields")
    except RecursionError:
        raise ValueError(_("it is nested too deep")) from None
    except RuleViolation as error:
        raise ValueError(error.message) from None
    return found


def objects_in(value: Json) -> list[JsonObject]:
    """The objects of a list, also of one that nobody checked."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _read_card(data: Mapping[str, str], key: str) -> JsonObject:
    """Return what one card says, without what its type does not have."""
    field: JsonObject = {name: data.get(f"{name}-{key}", "").strip() for name in _TEXTS}
    field["required"] = data.get(f"required-{key}", "") in ("on", "true")
    if field["type"] == "select":
        lines = data.get(f"options-{key}", "").splitlines()
        field["options"] = [line.strip() for line in lines if line.strip()]
    for name in _NUMBERS:
        number = data.get(f"{name}-{key}", "").strip()
        is_whole = number.isascii() and number.isdigit() and len(number) < 10
        field[name] = int(number) if is_whole else number
    # Only some types have lengths, or a pattern.
    allowed = {"placeholder", "help"}
    if field["type"] in MAX_LENGTHS:
        allowed |= {*_NUMBERS} if field["type"] == "textarea" else {*_NUMBERS, "pattern"}
    for name in ("placeholder", "help", "pattern", *_NUMBERS):
        if field[name] == "" or name not in allowed:
            del field[name]
    return field


def name_for(label: str, taken: set[str]) -> str:
    """A name that programs may use, made from the label."""
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:50]
    name = name if name[:1].isalpha() else f"field_{name}".rstrip("_")
    names = (name if number == 1 else f"{name}_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def apply_button(data: QueryDict) -> tuple[list[JsonObject], str]:
    """The fields after the button that was pressed, and what to say about it."""
    rows = objects_in(read_fields(data))
    do, _colon, key = data.get("do", "").partition(":")
    if do == "json":
        return objects_in(read_json(data.get("json", ""))), _("The cards show the JSON now.")
    if do == "add" and len(rows) < MAX_FIELDS and key in (*KINDS, "consent"):
        kind = _("A box for consent") if key == "consent" else str(KINDS[key])
        # A field without a name: it comes from the label, when the form is saved.
        field: JsonObject = {"name": "", "label": "", "type": key, "required": False}
        if key == "consent":
            label = _("I agree that my answers are kept to reply to me.")
            field = {"name": "consent", "label": label, "type": "checkbox", "required": True}
        elif key == "select":
            field["options"] = [_("First"), _("Second")]
        return [*rows, field], _("Added at the end: %(name)s") % {"name": kind}
    place = int(key) if key.isascii() and key.isdigit() and len(key) < 4 else len(rows)
    if place >= len(rows):
        return rows, ""
    row = rows[place]
    named = {"name": str(row.get("label", ""))}
    if do == "remove":
        return rows[:place] + rows[place + 1 :], _("Removed: %(name)s") % named
    if do == "copy" and len(rows) < MAX_FIELDS:
        copied = {**row, "name": ""}
        return [*rows[: place + 1], copied, *rows[place + 1 :]], _("Copied: %(name)s") % named
    other = {"up": place - 1, "down": place + 1}.get(do, -1)
    if 0 <= other < len(rows):
        rows[place], rows[other] = rows[other], rows[place]
    return rows, ""


def cards(
    rows: Sequence[JsonObject], errors: Mapping[str, Sequence[str]], new: int | None
) -> list[FieldCard]:
    """The fields with what is wrong in each: refusals are keyed `fields.0.label`."""
    found = []
    for place, row in enumerate(rows):
        own = f"fields.{place}"
        said: list[str] = []
        for key, sentences in errors.items():
            if key != own and not key.startswith(f"{own}."):
                continue
            # What was refused of a part of a field is said with the label that the card shows.
            part = key.removeprefix(own).removeprefix(".")
            label = str(_LABELS.get(part.partition(".")[0], ""))
            if not label:
                said += sentences
                continue
            for text, sentence in zip(with_label(label, part, sentences), sentences, strict=True):
                is_named = text != sentence
                said.append(
                    text if is_named else _("%(label)s: %(text)s") % {"label": label, "text": text}
                )
        found.append(FieldCard(place, row, said, place == new))
    return found
