"""Conditions of fields and steps. `static/cms/modules/form.js` has the same rule for browsers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from django.utils.translation import gettext as _

from forms.fields import CHECKED_WORDS, CHOICE_TYPES, Condition, Field, split_steps
from proofroom.core.json import Json

_NUMBER: Final = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?\Z", re.ASCII)


def shown_fields(fields: Sequence[Field], answers: Mapping[str, Json]) -> list[Field]:
    """Return the fields to show for the answers as they were sent, without steps.

    A field that is not shown counts as empty for the conditions of others.
    """
    by_name = {field.name: field for field in fields if field.has_value}
    steps = _steps_of(fields)
    known: dict[str, bool] = {}

    def is_shown(field: Field) -> bool:
        if field.name not in known:
            # Ends the recursion for a form with a cycle, which no rule refused when it was stored.
            known[field.name] = False
            step = steps.get(field.name)
            known[field.name] = (step is None or meets(step.show_if)) and meets(field.show_if)
        return known[field.name]

    def meets(condition: Condition | None) -> bool:
        if condition is None:
            return True
        other = by_name.get(condition.field)
        if other is None:
            return True
        values = _texts_of(other, answers.get(other.name)) if is_shown(other) else []
        return is_met(condition, other, values)

    return [field for field in by_name.values() if is_shown(field)]


def is_met(condition: Condition, field: Field, values: Sequence[str]) -> bool:
    """Return whether the answer to `field`, as texts, meets the condition."""
    wanted = condition.value or ""
    match condition.operator:
        case "isEmpty":
            return not values
        case "isNotEmpty":
            return bool(values)
        case "equals":
            return _equals(field, values, wanted)
        case "notEquals":
            return not _equals(field, values, wanted)
        case "contains":
            return _contains(field, values, wanted)
        case "notContains":
            return not _contains(field, values, wanted)


def _equals(field: Field, values: Sequence[str], wanted: str) -> bool:
    if field.type == "checkbox":
        return bool(values) == (wanted.lower() in CHECKED_WORDS)
    if field.type == "number" and len(values) == 1:
        both = (values[0], wanted)
        if all(_NUMBER.match(text) for text in both):
            return float(both[0]) == float(both[1])
    return list(values) == [wanted]


def _contains(field: Field, values: Sequence[str], wanted: str) -> bool:
    if field.type in CHOICE_TYPES:
        return wanted in values
    return any(wanted in value for value in values)


def _texts_of(field: Field, answer: Json) -> list[str]:
    """Return an answer as texts: none for an empty one, several only for checkboxes."""
    if field.type == "checkbox":
        return ["true"] if str(answer).strip().lower() in CHECKED_WORDS else []
    found = answer if isinstance(answer, list) else [answer]
    texts = [str(value).strip() for value in found if value is not None]
    return [text for text in texts if text]


def find_condition_faults(fields: Sequence[Field]) -> Iterator[tuple[str, str]]:
    """Yield errors of conditions by path, such as `0.showIf.field`."""
    by_name = {field.name: field for field in fields if field.has_value}
    in_circle = _names_in_circles(fields)
    for place, field in enumerate(fields):
        condition, path = field.show_if, f"{place}.showIf"
        if condition is None:
            continue
        other = by_name.get(condition.field)
        if other is None:
            yield (
                f"{path}.field",
                _("There is no field %(name)r in this form.") % {"name": condition.field},
            )
        elif field.name in in_circle:
            yield f"{path}.field", _("The conditions of these fields depend on each other.")
        elif condition.needs_value and not condition.value:
            yield f"{path}.value", _("Enter the answer to compare with.")
        elif not condition.needs_value and condition.value is not None:
            yield f"{path}.value", _("This comparison has no value.")
        elif (
            condition.needs_value
            and other.type in CHOICE_TYPES
            and condition.value not in (other.options or ())
        ):
            yield (
                f"{path}.value",
                _("%(label)s has no option %(value)r.")
                % {"label": other.label, "value": condition.value},
            )


def _names_in_circles(fields: Sequence[Field]) -> set[str]:
    """Return the fields and steps whose visibility depends on itself."""
    steps = _steps_of(fields)
    needs: dict[str, set[str]] = {}
    for field in fields:
        step = steps.get(field.name)
        needs[field.name] = {
            condition.field
            for condition in (field.show_if, step.show_if if step else None)
            if condition is not None
        }
        if step is not None:
            needs[field.name].add(step.name)
    found = set()
    for name in needs:
        pending, seen = [*needs[name]], set[str]()
        while pending:
            other = pending.pop()
            if other not in seen:
                seen.add(other)
                pending += needs.get(other, ())
        if name in seen:
            found.add(name)
    return found


def _steps_of(fields: Sequence[Field]) -> dict[str, Field]:
    """Return the step of each field that is in one, by the name of the field."""
    parts = split_steps(fields)
    return {field.name: step for step, own in parts if step is not None for field in own}
