"""Sizes and positions of charts that the server draws as SVG.

Horizontal positions are percent of the width, so that a chart is as wide as its card. Heights are in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

HEIGHT: Final = 150
_GAP: Final = 0.24
"""Part of a column's width that stays empty."""
_MIN_LENGTH: Final = 2.0


@dataclass(frozen=True, slots=True)
class Upright:
    """The position and the height of a column."""

    left: str
    width: str
    middle: str
    top: str
    height: str


def upright(place: int, count: int, value: float, top: float) -> Upright:
    """Return the column for `value` at index `place` of `count`. A `value` of `top` gets the full height."""
    room = 100 / count
    height = length(value, top)
    return Upright(
        left=f"{place * room + room * _GAP / 2:.2f}%",
        width=f"{room * (1 - _GAP):.2f}%",
        middle=f"{place * room + room / 2:.2f}%",
        top=f"{HEIGHT - height:.1f}",
        height=f"{height:.1f}",
    )


def length(value: float, top: float) -> float:
    """Return the length in pixels. A small value still gets a visible column."""
    return max(_MIN_LENGTH, value / top * HEIGHT) if value and top else 0.0


def part(value: float, top: float) -> str:
    """Return the width of a bar in percent. A `value` of `top` gets the full width."""
    return f"{value / top * 100 if top else 0:.1f}%"


def line(values: Sequence[float], top: float) -> str:
    """Return the points of a line through the middles of the columns, in a box of 100 by `HEIGHT`."""
    room = 100 / len(values) if values else 0.0
    return " ".join(
        f"{place * room + room / 2:.2f},{HEIGHT - (value / top * HEIGHT if top else 0):.1f}"
        for place, value in enumerate(values)
    )


def rounded(top: float) -> int:
    """Return the end of an axis: the next of 2, 4, 6, 8, 10, 20, 40, …, so that half of it is a whole number, too."""
    unit = 1
    while unit * 10 < top:
        unit *= 10
    return next(step * unit for step in (2, 4, 6, 8, 10) if step * unit >= top)
