"""Find and replace in forms: what visitors read of them. Names of fields stay, and so does what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from forms import presenters
from forms.form_input import read_definition
from forms.models import FormDefinition
from proofroom.core.find_replace.row_source import RowSource
from proofroom.core.find_replace.sources import Hand
from proofroom.core.json import Json, JsonObject

_TEXTS: Final = ("title", "description", "submitLabel", "successMessage", "redirectUrl")
_OF_FIELDS: Final = ("label", "placeholder", "help")


def _change(form: FormDefinition, hand: Hand) -> None:
    now = presenters.present_form(form)
    values: JsonObject = {name: hand.take(name, cast(Json, now[name])) for name in _TEXTS}
    values["fields"] = [
        _field(field, hand, f"fields.{place}") for place, field in enumerate(form.fields)
    ]
    if not hand.places:
        return
    definition = read_definition(values)
    form.title = definition.title
    form.description = definition.description
    form.fields = [field.to_json() for field in definition.fields]
    form.submit_label = definition.submit_label
    form.success_message = definition.success_message
    form.redirect_url = definition.redirect_url
    form.version += 1
    stored = presenters.present_form(form)
    hand.settle({name: cast(Json, stored[name]) for name in _TEXTS})


def _field(field: Mapping[str, Json], hand: Hand, path: str) -> JsonObject:
    edited = dict(field)
    for name in _OF_FIELDS:
        if isinstance(edited.get(name), str):
            edited[name] = hand.take(f"{path}.{name}", edited[name])
    options = edited.get("options")
    if isinstance(options, list):
        edited["options"] = [
            hand.take(f"{path}.options.{place}", option) if isinstance(option, str) else option
            for place, option in enumerate(options)
        ]
    return edited


FORMS: Final = RowSource(
    table="forms",
    what="form",
    rows=FormDefinition.objects.all,
    change_row=_change,
    texts=("title", "description", "submit_label", "success_message", "redirect_url"),
    documents=("fields",),
    touched=("version",),
)
