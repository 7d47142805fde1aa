"""What can happen to the values of a module, one step each. Pure functions of the values, by their names in JSON."""

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
    """One step. What it does a second time changes nothing, unless it converts."""

    @abstractmethod
    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        """The values after the step. `is_whole`: they are all values of a module, not some that a post overrides."""

    def names_after(self, name: str, there: Collection[str]) -> Sequence[str]:
        """The names that hold what `name` held, or a part of it, among values that have the names `there`."""
        return (name,)

    def all_names_after(self, there: Collection[str], *, is_whole: bool) -> frozenset[str]:
        """The names of the values after the step."""
        return frozenset(new for name in there for new in self.names_after(name, there))

    def reversed(self) -> Step | None:
        """The step that leads back; None where there is none."""
        return None

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        """How Django writes the step into a migration, as `squashmigrations` does."""
        arguments = [getattr(self, field.name) for field in fields(self)]
        return f"content.migration_operations.{type(self).__name__}", arguments, {}


@dataclass(frozen=True, slots=True)
class Rename(Step):
    """The value of `old` is the value of `new`. What stands at `new` already is replaced."""

    old: str
    new: str

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        if self.old not in values:
            return values
        kept = {name: value for name, value in values.items() if name != self.new}
        return {self.new if name == self.old else name: value for name, value in kept.items()}

    def names_after(self, name: str, there: Collection[str]) -> Sequence[str]:
        if name == self.old:
            return (self.new,)
        return () if name == self.new and self.old in there else (name,)

    def reversed(self) -> Step:
        return Rename(self.new, self.old)


@dataclass(frozen=True, slots=True)
class SetDefault(Step):
    """`name` is `value` where there is nothing yet.

    Not reversible: afterwards the default and the values that people had written are not told apart.
    """

    name: str
    value: Json

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        return {self.name: self.value, **values} if is_whole else values

    def all_names_after(self, there: Collection[str], *, is_whole: bool) -> frozenset[str]:
        return frozenset((*there, self.name)) if is_whole else frozenset(there)


@dataclass(frozen=True, slots=True)
class Convert(Step):
    """`name` becomes `convert(value)`; `back` does the opposite, where the migration is to be reversed.

    The functions get a value of their own, which they may change in place.
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
    """What stood at `name` becomes the values of `into`, which `split` answers by name."""

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
    """`name` and its value are removed."""

    name: str

    def apply(self, values: JsonObject, *, is_whole: bool) -> JsonObject:
        return {name: value for name, value in values.items() if name != self.name}

    def names_after(self, name: str, there: Collection[str]) -> Sequence[str]:
        return () if name == self.name else (name,)
