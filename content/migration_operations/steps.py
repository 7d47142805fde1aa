"""Steps that change the values of a module. Pure functions of the values by JSON name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import TypeAlias

from proofroom.core.json import Json, JsonObject

ConvertValue: TypeAlias = Callable[[Json], Json]
SplitValue: TypeAlias = Callable[[Json], Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """One step. Applying it twice has no further effect, except for conversions."""

    @abstractmethod
    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        """Return the values after the step. `is_whole`: all values of a module, not only overrides."""

    def names_after(self, name: str, there: Collection[str]) -> Sequence[str]:
        """Return the names that hold the value of `name`, or a part of it. `there`: all names before the step."""
        return (name,)

    def all_names_after(self, there: Collection[str], *, is_whole: bool) -> frozenset[str]:
        """Return the names of all values after the step."""
        return frozenset(new for name in there for new in self.names_after(name, there))

    def reversed(self) -> Step | None:
        """Return the reverse step, or None."""
        return None

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        """Return the arguments for Django's migration writer, for example in `squashmigrations`."""
        arguments = [getattr(self, field.name) for field in fields(self)]
        return f"content.migration_operations.{type(self).__name__}", arguments, {}


@dataclass(frozen=True, slots=True)
class Rename(Step):
    """Rename `old` to `new`, replacing an existing value of `new`."""

    old: str
    new: str

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        if self.old not in values:
            return values
        others = {name: value for name, value in values.items() if name != self.new}
        return {self.new if name == self.old else name: value for name, value in others.items()}

    def names_after(self, name: str, there: Collection[str]) -> Sequence[str]:
        if name == self.old:
            return (self.new,)
        return () if name == self.new and self.old in there else (name,)

    def reversed(self) -> Step:
        return Rename(self.new, self.old)


@dataclass(frozen=True, slots=True)
class SetDefault(Step):
    """Set `name` to `value` if it has no value.

    Not reversible, because defaults can't be distinguished from values that users entered.
    """

    name: str
    value: Json

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        return {self.name: self.value, **values} if is_whole else values

    def all_names_after(self, there: Collection[str], *, is_whole: bool) -> frozenset[str]:
        return frozenset((*there, self.name)) if is_whole else frozenset(there)


@dataclass(frozen=True, slots=True)
class Convert(Step):
    """Convert the value of `name` with `convert`; `back` reverses it.

    The functions get a copy, which they may change in place.
    """

    name: str
    convert: ConvertValue
    back: ConvertValue | None = None

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        if self.name not in values:
            return values
        return {**values, self.name: self.convert(deepcopy(values[self.name]))}

    def reversed(self) -> Step | None:
        return Convert(self.name, self.back, self.convert) if self.back is not None else None


@dataclass(frozen=True, slots=True)
class Split(Step):
    """Replace `name` with the values of `into`, which `split` returns by name."""

    name: str
    into: tuple[str, ...]
    split: SplitValue

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        if self.name not in values:
            return values
        parts = self.split(deepcopy(values[self.name]))
        if set(parts) != set(self.into):
            raise ValueError(
                f"{self.name} was split into {', '.join(sorted(parts))}, not {', '.join(self.into)}"
            )
        rest = {name: value for name, value in values.items() if name != self.name}
        return {**rest, **parts}

    def names_after(self, name: str, there: Collection[str]) -> Sequence[str]:
        if name == self.name:
            return self.into
        return () if name in self.into and self.name in there else (name,)


@dataclass(frozen=True, slots=True)
class Drop(Step):
    """Remove `name` and its value."""

    name: str

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        return {name: value for name, value in values.items() if name != self.name}

    def names_after(self, name: str, there: Collection[str]) -> Sequence[str]:
        return () if name == self.name else (name,)
