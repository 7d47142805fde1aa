"""A tree of two merged values, from which either value or a mixture of chosen passages can be built."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from content.comparison.inline import AlignedUnits, nodes_of
from content.document.changes import ABSENT, Value
from proofroom.core.json import Json

Stored: TypeAlias = Any
"""A JSON value or `ABSENT`."""


@dataclass(frozen=True, slots=True)
class MergePart:
    """A place in both values. `passages`: the passages that decide between `before` and `after`."""

    before: Stored
    after: Stored
    passages: frozenset[int] = frozenset()

    def value(self, chosen: Collection[int]) -> Value:
        """Return the value with exactly these passages applied."""
        # A part without passages is equal on both sides.
        if self.passages.issubset(chosen):
            return cast(Value, self.after)
        if self.passages.isdisjoint(chosen):
            return cast(Value, self.before)
        return self.mixed(chosen)

    def mixed(self, chosen: Collection[int]) -> Value:
        """Return the value with some of the passages applied. A part with one passage has no mixture."""
        return cast(Value, self.before)


@dataclass(frozen=True, slots=True)
class MergedList(MergePart):
    parts: Sequence[MergePart] = ()

    def mixed(self, chosen: Collection[int]) -> Value:
        values = (part.value(chosen) for part in self.parts)
        return [cast(Json, value) for value in values if value is not ABSENT]


@dataclass(frozen=True, slots=True)
class RecordPart(MergePart):
    parts: Mapping[str, MergePart] | None = None

    def mixed(self, chosen: Collection[int]) -> Value:
        values = {name: part.value(chosen) for name, part in (self.parts or {}).items()}
        return {name: cast(Json, value) for name, value in values.items() if value is not ABSENT}


@dataclass(frozen=True, slots=True)
class InlinePart(MergePart):
    """The inline nodes of a block, or a plain text."""

    steps: Sequence[AlignedUnits] = ()
    is_text: bool = False

    def mixed(self, chosen: Collection[int]) -> Value:
        units = [
            unit
            for step in self.steps
            for unit in (step.new if not step.passage or step.passage in chosen else step.old)
        ]
        return "".join(unit.text for unit in units) if self.is_text else nodes_of(units)


@dataclass(frozen=True, slots=True)
class NodePart(MergePart):
    """A block of rich text: its type and attributes (`head`) and its content.

    A container that becomes empty in a mixture is removed.
    """

    head: MergePart | None = None
    content: MergePart | None = None
    must_hold: bool = False

    def mixed(self, chosen: Collection[int]) -> Value:
        if self.head is None or self.content is None:
            return cast(Value, self.before)
        content = self.content.value(chosen)
        if self.must_hold and not content:
            return ABSENT
        head = cast("Mapping[str, Json]", self.head.value(chosen))
        return {**head, "content": cast(Json, content)}


def passages_of(parts: Collection[MergePart]) -> frozenset[int]:
    return frozenset[int]().union(*(part.passages for part in parts))
