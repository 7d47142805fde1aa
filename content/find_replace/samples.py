"""Samples of what find and replace changes: both texts around where they begin to differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from proofroom.core.find_replace.sources import TextPlace
from proofroom.core.json import Json
from proofroom.definitions.richtext.text import to_text

SAMPLE_SIZE: Final = 50
_TEXT_MAX: Final = 300


@dataclass(frozen=True, slots=True)
class SampledPlace:
    """A place that changes, with its text before and after."""

    table: str
    id: str
    field: str
    before: str
    after: str


def sample_of(places: Iterable[TextPlace]) -> list[SampledPlace]:
    """The first places that change."""
    return [
        SampledPlace(place.table, place.row, place.field, *_excerpts(place.before, place.after))
        for place in islice(places, SAMPLE_SIZE)
    ]


def _excerpts(before: Json, after: Json) -> tuple[str, str]:
    """Both texts around where they begin to differ, so that a long one shows the difference."""
    one, other = (value if isinstance(value, str) else to_text(value) for value in (before, after))
    same = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        same += 1
    start = max(0, same - _TEXT_MAX // 3)
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    part = text[start : start + _TEXT_MAX]
    return f"{'…' if start else ''}{part}{'…' if start + _TEXT_MAX < len(text) else ''}"
