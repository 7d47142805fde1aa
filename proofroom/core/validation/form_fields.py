"""Forms whose fields come from an input class, so that the admin and the API share one declaration."""

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
    """Annotation of an input class's field with its form field.

    `make` is called for each form, so that choices are current. `name` is the name in the form if it differs from the
    wire name.
    """

    make: Callable[[], forms.Field]
    name: str = ""


class InputForm(forms.Form):
    """A form with the fields of `input_class` in their order, and the fields it declares itself.

    Fields have the wire names, which services use in errors, unless `FormField` overrides them.
    """

    input_class: ClassVar[type[BaseModel]]
    asked_fields: ClassVar[tuple[str, ...]] = ()
    """Names and order of the input class's fields in the form; if empty, all fields with a form field."""
    own_fields_after: ClassVar[str] = ""
    """The input class's field after which the form's own fields are placed; by default they are last."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        derived = {
            name: part.make()
            for part, name, _wire_name in self._input_fields()
            if part is not None and name not in self.fields
        }
        before = list(derived)
        if self.own_fields_after:
            del before[before.index(self.own_fields_after) + 1 :]
        self.fields = {name: derived.pop(name) for name in before} | self.fields | derived
        self.order_fields(self.field_order)

    def read_input(self, shape: type[B]) -> B:
        """Return the submitted values as `shape`: the input class or one with its fields.

        Excludes the form's own fields. Raises `RuleViolation` by field.
        """
        values = {
            wire_name: self.cleaned_data[name]
            for _part, name, wire_name in self._input_fields()
            if name in self.cleaned_data
        }
        return validate_input(values, shape)

    def input_values(self) -> dict[str, Any]:
        """Return the validated values by the field names of `input_class`."""
        return self.read_input(self.input_class).model_dump()

    @classmethod
    def _input_fields(cls) -> Iterator[tuple[FormField | None, str, str]]:
        """Yield for each field its form field (or None), its form name and its wire name."""
        for field in cls.asked_fields or cls.input_class.model_fields:
            info = cls.input_class.model_fields[field]
            part = _form_field_in(info.metadata) or _form_field_in([info.annotation])
            wire_name = info.alias or field
            yield part, (part.name if part else "") or wire_name, wire_name


def _form_field_in(parts: Iterable[object]) -> FormField | None:
    """Return the form field in an annotation. In a partial body it is nested in `Optional`."""
    for part in parts:
        found = part if isinstance(part, FormField) else _form_field_in(get_args(part))
        if found is not None:
            return found
    return None


def with_label(label: str | Promise, path: str, sentences: Iterable[str]) -> list[str]:
    """Replace the path at the start of a service's sentences with the field's label."""
    parts = path.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    replaced = []
    for sentence in sentences:
        name = next((name for name in names if sentence.startswith(f"{name} ")), None)
        if str(label) and name is not None:
            rest = sentence.removeprefix(f"{name} ")
            sentence = gettext("“%(label)s” %(rest)s") % {"label": label, "rest": rest}
        replaced.append(sentence)
    return replaced
