"""The risk of a change, by which changes are flagged, sorted, offered and taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from content.layers.state import Mark
from content.review.differences import Comparison, Difference, DifferenceKind

Level = Literal[1, 2, 3]
"""1: safe to take unopened. 2: to be looked at. 3: to be looked at first."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The level of what is added, removed and changed, where the post is published and where it is not."""

    live: tuple[Level, Level, Level]
    draft: tuple[Level, Level, Level]


_LOOK: Final = Weights((2, 2, 2), (2, 2, 2))
_HIGH: Final = Weights((3, 3, 3), (3, 3, 3))
_TABLE: Final[Mapping[DifferenceKind, Weights]] = {
    "text": Weights((1, 2, 1), (1, 2, 1)),
    "space": Weights((1, 1, 1), (1, 1, 1)),
    "position": Weights((1, 1, 1), (1, 1, 1)),
    "link": Weights((2, 2, 3), (2, 2, 2)),
    "embed": Weights((3, 3, 3), (2, 2, 2)),
    "image": _LOOK,
    "reference": _LOOK,
    "mark": _LOOK,
    "code": _LOOK,
    "structure": _LOOK,
    "number": _LOOK,
    "date": _LOOK,
    "name": _LOOK,
    "price": _HIGH,
    "negation": _HIGH,
    "characters": _HIGH,
    "choice": Weights((2, 2, 2), (1, 1, 1)),
    "boolean": Weights((2, 2, 2), (1, 1, 1)),
    "slug": Weights((3, 3, 3), (1, 1, 1)),
    "seo": Weights((3, 3, 3), (2, 2, 2)),
    "structured-data": Weights((3, 3, 3), (2, 2, 2)),
    "module": Weights((1, 3, 3), (1, 3, 3)),
}
_NO_LOSS: Final = frozenset({"mark", "characters", "position", "seo"})
_ACTIONS: Final = {"added": 0, "removed": 1, "changed": 2}
_SOME: Final = 2
_MUCH: Final = 5
"""Words that a stretch may lose before it counts as removed; fewer are enough where they are a third of it."""
_SENTENCE: Final = 12
"""Words in a row that all went: then a sentence was removed, whatever came for it."""
FLAGS: Final = (
    "conflict", "drifted", "edited", "characters", "removed", "price", "negation", "embed", "link",
    "slug", "seo", "structured-data", "module", "image", "reference", "number", "date", "name",
    "choice", "boolean", "mark", "code", "structure",
)  # fmt: skip
"""The flags, the heaviest first."""


@dataclass(frozen=True, slots=True)
class Risk:
    """`flags` name what a person must look at; none where the change is safe."""

    level: Level
    flags: tuple[str, ...]

    @property
    def is_safe(self) -> bool:
        return self.level == 1


def assess(
    comparison: Comparison, *, is_live: bool, mark: Mark | None = None, is_drifted: bool = False
) -> Risk:
    """The risk of a change that differs so, in a post that is published or not."""
    flags: set[str] = set()
    level: Level = 1
    for difference in comparison.differences:
        weight, named = _weigh(difference, is_live=is_live)
        if weight > 1:
            flags |= named
        level = max(level, weight)
    if comparison.words_before and not comparison.words_after:
        flags.add("removed")
        level = 3
    # Whether somebody else was there, too.
    found = ["drifted"] if is_drifted or (mark is not None and mark.drifted) else []
    if mark is not None and mark.conflict:
        found.append("conflict")
    if mark is not None and mark.edited_by:
        found.append("edited")
    hands = set(found)
    if hands:
        level = 2 if hands == {"edited"} and level < 3 else 3
    return Risk(level, order_flags(flags | hands))


def order_flags(flags: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(flags, key=lambda flag: FLAGS.index(flag) if flag in FLAGS else -1))


def _weigh(difference: Difference, *, is_live: bool) -> tuple[Level, set[str]]:
    kind, action = difference.kind, difference.action
    sides = [
        side if isinstance(side, str) else "" for side in (difference.before, difference.after)
    ]
    # Only more or fewer spaces between two words are plain: not none, no line break, no tab.
    if kind == "space" and not all(side and not side.strip(" ") for side in sides):
        return 2, {"structure"}
    if difference.is_default:
        return 1, set()
    if kind == "text":
        before, after = (len(side.split()) for side in sides)
        lost = before - after
        # Words are gone, and not only put in other words.
        if before >= _SENTENCE or lost >= _MUCH or (lost >= _SOME and 3 * after <= 2 * before):
            action = "removed"
    weights = _TABLE.get(kind, _HIGH)
    level = (weights.live if is_live else weights.draft)[_ACTIONS[action]]
    flags = {"removed"} if action == "removed" and kind not in _NO_LOSS else set()
    if kind != "text":
        flags.add(kind)
    # A yes or no is a choice of two.
    return level, flags | ({"choice"} if kind == "boolean" else set())
