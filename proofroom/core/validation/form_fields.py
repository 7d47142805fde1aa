"""Forms whose fields an input class declares, so that the admin's form and the API's body are one declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, get_args

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext
from pydantic import BaseModel

from proofroom.core.validation.errors import validate_input

B = TypeVar("B", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class FormField:
    """Annotates a field of an input class with the form field that asks people for it.

    `make` is called for each form, so that choices are those of the moment. `name` is the name in the form, where
    that is not the one of the wire.
    """

    make: Callable[[], forms.Field]
    name: str = ""


class InputForm(forms.Form):
    """A form that asks for the fields of `input_class` in their order, and for those that it declares itself.

    Fields have the names of the wire, as the refusals of services have them, unless `FormField` says otherwise.
    """

    input_class: ClassVar[type[BaseModel]]
    asked_fields: ClassVar[tuple[str, ...]] = ()
    """The fields of the input class that it asks for, in this order; without any, all that have a form field."""
    own_fields_after: ClassVar[str] = ""
    """The field of the input class after which the form's own fields stand; without one they are last."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        derived = {
            name: part.make()
            for part, name, _wire_name in self._asked()
            if part is not None and name not in self.fields
        }
        before = list(derived)
        if self.own_fields_after:
            del before[before.index(self.own_fields_after) + 1 :]
        self.fields = {name: derived.pop(name) for name in before} | self.fields | derived
        self.order_fields(self.field_order)

    def read_input(self, shape: type[B]) -> B:
        """Return what was sent as `shape`, which is the input class or one with its fields.

        Without the form's own fields. Raises `RuleViolation` by field where the class refuses one.
        """
        values = {
            wire_name: self.cleaned_data[name]
            for _part, name, wire_name in self._asked()
            if name in self.cleaned_data
        }
        return validate_input(values, shape)

    def input_values(self) -> dict[str, Any]:
        """Return the checked values by the names of `input_class`."""
        return self.read_input(self.input_class).model_dump()

    @classmethod
    def _asked(cls) -> Iterator[tuple[FormField | None, str, str]]:
        """Yield how to ask for each field, if at all, with its names in the form and on the wire."""
        for field in cls.asked_fields or cls.input_class.model_fields:
            info = cls.input_class.model_fields[field]
            part = _form_field_in(info.metadata) or _form_field_in([info.annotation])
            wire_name = info.alias or field
            yield part, (part.name if part else "") or wire_name, wire_name


def _form_field_in(parts: Iterable[object]) -> FormField | None:
    """Return the form field among the parts of an annotation; in a partial body it stands within `Optional`."""
    for part in parts:
        found = part if isinstance(part, FormField) else _form_field_in(get_args(part))
        if found is not None:
            return found
    return None


def with_label(label: str | Promise, path: str, sentences: Iterable[str]) -> list[str]:
    """Return what a service said about the field at `path`, as the reader knows that field."""
    parts = path.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    said = []
    for sentence in sentences:
        name = next((name for name in names if sentence.startswith(f"{name} ")), None)
        if str(label) and name is not None:
            rest = sentence.removeprefix(f"{name} ")
            sentence = gettext("“%(label)s” %(rest)s") % {"label": label, "rest": rest}
        said.append(sentence)
    return said
