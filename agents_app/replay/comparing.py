"""How far an answer agrees with what people decided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from agents_app.replay.decisions import DecidedRun
from content.richtext.text import to_text
from core.json import Json

Outcome = Literal["same", "similar", "different", "missing", "again", "avoided"]
SIMILAR: Final = 0.8
_LONGEST: Final = 4000
"""Characters that are compared; the time for it grows with their square."""
_AGREES: Final = frozenset({"same", "similar", "avoided"})


@dataclass(frozen=True, slots=True)
class PathComparison:
    """One path. Approved ones come out the same, similar, different or missing; rejected ones again or avoided."""

    path: str
    decision: Literal["approved", "rejected"]
    outcome: Outcome

    @property
    def agrees(self) -> bool:
        return self.outcome in _AGREES


def compare(
    decided: DecidedRun, earlier: Mapping[str, Json], answer: Mapping[str, Json]
) -> list[PathComparison]:
    """Every path that people decided on. `earlier` is what the run had proposed, `answer` what is proposed now."""
    found = [
        PathComparison(path, "approved", _of_approved(wanted, path, answer))
        for path, wanted in decided.approved.items()
    ]
    for path in decided.rejected:
        if path not in decided.approved:
            found.append(PathComparison(path, "rejected", _of_rejected(path, earlier, answer)))
    return found


def _of_approved(wanted: Json, path: str, answer: Mapping[str, Json]) -> Outcome:
    if path not in answer:
        return "missing"
    likeness = alike(wanted, answer[path])
    return "same" if likeness == 1 else "similar" if likeness >= SIMILAR else "different"


def _of_rejected(path: str, earlier: Mapping[str, Json], answer: Mapping[str, Json]) -> Outcome:
    if path not in answer:
        return "avoided"
    if path in earlier and alike(earlier[path], answer[path]) < SIMILAR:
        return "avoided"
    return "again"


def alike(one: Json, other: Json) -> float:
    """From 0 to 1, by the words that a reader sees."""
    if one == other:
        return 1.0
    left, right = _words(one), _words(other)
    if left == right:
        return 1.0
    return min(SequenceMatcher(None, left, right, autojunk=False).ratio(), 0.999)


def _words(value: Json) -> str:
    if isinstance(value, Mapping) and value.get("type") == "doc":
        text = to_text(dict(value))
    else:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return " ".join(text.split())[:_LONGEST]
