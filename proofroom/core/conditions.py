"""Conditions on events in definition files: a field, an operator, a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import Field, JsonValue, model_validator

from proofroom.core.definition_files import DefinitionPart
from proofroom.core.validation import patterns

Operator = Literal[
    "equals",
    "not_equals",
    "contains",
    "greater_than",
    "less_than",
    "matches",
    "in",
    "exists",
]
_MAX_TEXT: Final = 10_000
"""Maximum length of a value that a pattern is matched against."""
_MISSING: Final = object()


class Condition(DefinitionPart):
    """A comparison of the value at a dotted path."""

    field: str = Field(min_length=1, max_length=300)
    operator: Operator
    value: JsonValue = None

    @model_validator(mode="after")
    def _value_fits_the_operator(self) -> Condition:
        if self.operator == "in" and not isinstance(self.value, list):
            raise ValueError("the operator in needs a list as its value")
        if self.operator == "exists" and self.value not in (None, True, False):
            raise ValueError("the operator exists needs true, false or no value")
        if self.operator in ("greater_than", "less_than") and _comparable_type(self.value) is None:
            raise ValueError(f"the operator {self.operator} needs a number or text as its value")
        if self.operator == "matches":
            self._require_pattern()
        return self

    def _require_pattern(self) -> None:
        if not isinstance(self.value, str):
            raise ValueError("the operator matches needs a pattern as its value")
        fault = patterns.find_pattern_fault(self.value)
        if fault:
            raise ValueError(f"the pattern {fault}")

    def holds(self, values: Mapping[str, object]) -> bool:
        """Return whether the condition is met. Values of different types are neither equal, smaller nor larger."""
        found = value_at(values, self.field, _MISSING)
        match self.operator:
            case "exists":
                return (found is not _MISSING and found is not None) == (self.value is not False)
            case "equals":
                return _equals(found, self.value)
            case "not_equals":
                return not _equals(found, self.value)
            case "in":
                return isinstance(self.value, list) and _contains(found, self.value)
            case "contains":
                if isinstance(found, str):
                    return isinstance(self.value, str) and self.value in found
                return isinstance(found, list | tuple) and _contains(self.value, found)
            case "matches":
                if not isinstance(found, str) or not isinstance(self.value, str):
                    return False
                return patterns.matches(self.value, found, _MAX_TEXT)
            case _:
                if _comparable_type(found) is None or _comparable_type(
                    found
                ) is not _comparable_type(self.value):
                    return False
                larger: bool = found > self.value  # type: ignore[operator]  # both have the same type
                return (
                    larger
                    if (1 if self.operator == "greater_than" else -1) > 0
                    else not larger and found != self.value
                )


def value_at(values: object, path: str, default: object = None) -> object:
    """Return the value at a dotted path. A number is an index in a list, starting at 0."""
    found = values
    for name in path.split("."):
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif (
            isinstance(found, list | tuple) and name.isascii() and name.isdigit() and len(name) < 7
        ):
            if int(name) >= len(found):
                return default
            found = found[int(name)]
        else:
            return default
    return found


def _equals(found: object, value: object) -> bool:
    """Return whether two JSON values are equal. In JSON, true is not 1."""
    return isinstance(found, bool) == isinstance(value, bool) and found == value


def _contains(found: object, values: Sequence[object]) -> bool:
    return any(_equals(found, value) for value in values)


def _comparable_type(value: object) -> type | None:
    """Return the type a value can be compared with: numbers with numbers, texts (including dates) with texts."""
    # A bool is an int in Python, but has no order here.
    if isinstance(value, bool):
        return None
    return float if isinstance(value, int | float) else str if isinstance(value, str) else None
