"""Forms whose fields an input class declares, so that the admin's form and the API's body are one declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext
from pydantic import BaseModel

from proofroom.core.api.body import check


@dataclass(frozen=True, slots=True)
class FormField:
    """Annotates a field of an input class with the form field that asks people for it.

    `make` is called for each form, so that choices are those of the moment.
    """

    make: Callable[[], forms.Field]


class InputForm(forms.Form):
    """A form that asks for the fields of `input_class` in their order, and for those that it declares itself.

    Fields have the names of the wire, as the refusals of services have them.
    """

    input_class: ClassVar[type[BaseModel]]
    own_fields_after: ClassVar[str] = ""
    """The field of the input class after which the form's own fields stand; without one they are last."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        derived = {
            info.alias or name: part.make()
            for name, info in self.input_class.model_fields.items()
            for part in info.metadata
            if isinstance(part, FormField) and (info.alias or name) not in self.fields
        }
        before = list(derived)
        if self.own_fields_after:
            del before[before.index(self.own_fields_after) + 1 :]
        self.fields = {name: derived.pop(name) for name in before} | self.fields | derived

    def input_values(self) -> dict[str, Any]:
        """Return the checked values by the names of `input_class`, without the form's own fields.

        Raises `RuleViolation` by field where the class refuses one.
        """
        names = {info.alias or name for name, info in self.input_class.model_fields.items()}
        values = {name: value for name, value in self.cleaned_data.items() if name in names}
        return check(values, self.input_class).model_dump()


def with_label(label: str | Promise, path: str, sentences: Iterable[str]) -> list[str]:
    """Return what a service said about the field at `path`, as the reader knows that field."""
    parts = path.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    return [_said(str(label), names, sentence) for sentence in sentences]


def _said(label: str, names: Iterable[str], sentence: str) -> str:
    for name in names:
        if label and sentence.startswith(f"{name} "):
            rest = sentence.removeprefix(f"{name} ")
            return gettext("“%(label)s” %(rest)s") % {"label": label, "rest": rest}
    return sentence
