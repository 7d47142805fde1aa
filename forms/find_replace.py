"""Find and replace in forms: texts shown to visitors. Field names and submissions are unchanged."""

from __future__ import annotations

from typing import Final

from forms.form_input import input_values, read_definition
from forms.models import FormDefinition
from proofroom.core.find_replace import Hand, RowSource
from proofroom.core.json import Json, JsonObject

_TEXTS: Final = ("title", "description", "submitLabel", "successMessage", "redirectUrl")
_FIELD_TEXTS: Final = ("label", "placeholder", "help")


def change_form(form: FormDefinition, hand: Hand) -> None:
    """Apply the edit to the columns of a form, validated as any input."""
    now = input_values(form)
    values: JsonObject = {name: hand.take(name, now[name]) for name in _TEXTS}
    fields: list[Json] = []
    for place, field in enumerate(form.fields):
        path, edited = f"fields.{place}", dict(field)
        for name in _FIELD_TEXTS:
            if isinstance(edited.get(name), str):
                edited[name] = hand.take(f"{path}.{name}", edited[name])
        options = edited.get("options")
        if isinstance(options, list):
            edited["options"] = [
                hand.take(f"{path}.options.{number}", option) if isinstance(option, str) else option
                for number, option in enumerate(options)
            ]
        condition = edited.get("showIf")
        if isinstance(condition, dict) and isinstance(condition.get("value"), str):
            # Compared with options, so it changes with them.
            value = hand.take(f"{path}.showIf.value", condition["value"])
            edited["showIf"] = {**condition, "value": value}
        fields.append(edited)
    confirmation = form.confirmation
    if confirmation is not None:
        confirmation = {
            **confirmation,
            **{
                name: hand.take(f"confirmation.{name}", confirmation[name])
                for name in ("subject", "text")
            },
        }
    if not hand.places:
        return
    read_definition({**values, "fields": fields, "confirmation": confirmation}).write_to(form)
    form.version += 1
    stored = input_values(form)
    hand.settle({name: stored[name] for name in _TEXTS})


FORMS: Final = RowSource(
    table="forms",
    what="form",
    permission="forms.edit",
    rows=FormDefinition.objects.all,
    change_row=change_form,
    texts=("title", "description", "submit_label", "success_message", "redirect_url"),
    documents=("fields", "confirmation"),
    touched=("version",),
)
