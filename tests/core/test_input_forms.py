"""Forms generated from an input class: names, order, and values."""

from __future__ import annotations

from typing import Annotated

import pytest
from django import forms

from proofroom.core.api.body import Body, Words
from proofroom.core.validation.form_fields import FormField, InputForm


class NewTide(Body):
    harbour: Annotated[Words, FormField(lambda: forms.CharField())]
    high_water: Annotated[Words, FormField(lambda: forms.CharField(required=False))] = ""
    low_water: Annotated[Words, FormField(lambda: forms.CharField(required=False))] = ""
    source: Words = ""


class TideChanges(NewTide, partial=True):
    """A partial class: each field may be absent."""


class TideForm(InputForm):
    input_class = NewTide
    guess = forms.BooleanField(required=False)


class TideFormInTheMiddle(TideForm):
    own_fields_after = "harbour"


class SomeOfATideForm(InputForm):
    """A form with two fields of a partial class, in its own order."""

    input_class = TideChanges
    asked_fields = ("low_water", "harbour")


class NamedTide(Body):
    low_water: Annotated[Words, FormField(lambda: forms.CharField(), name="ebb")]


class NamedTideForm(InputForm):
    input_class = NamedTide


@pytest.mark.parametrize(
    ("form", "names"),
    [
        (SomeOfATideForm, ["lowWater", "harbour"]),
        (NamedTideForm, ["ebb"]),
        (TideForm, ["harbour", "highWater", "lowWater", "guess"]),
        (TideFormInTheMiddle, ["harbour", "guess", "highWater", "lowWater"]),
    ],
)
def test_fields_are_named_and_ordered_as_on_the_wire(
    form: type[InputForm], names: list[str]
) -> None:
    assert list(form().fields) == names


def test_values_equal_the_input_classes() -> None:
    form = TideForm({"harbour": "Husum", "highWater": "at noon"})

    assert form.is_valid()
    assert form.input_values() == {
        "harbour": "Husum",
        "high_water": "at noon",
        "low_water": "",
        "source": "",
    }


def test_a_field_may_have_another_name_in_the_form() -> None:
    form = NamedTideForm({"ebb": "at six"})

    assert form.is_valid()
    assert form.input_values() == {"low_water": "at six"}


def test_what_is_not_asked_for_stays_as_it_is() -> None:
    form = SomeOfATideForm({"harbour": "Husum", "highWater": "at noon"})

    assert form.is_valid()
    assert form.input_values() == {
        "harbour": "Husum",
        "high_water": None,
        "low_water": "",
        "source": None,
    }
