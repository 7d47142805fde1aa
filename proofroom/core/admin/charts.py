"""Lengths and places of charts that the server draws as SVG.

Places across are percent of the width, so that a chart is as wide as its card; heights are pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

HEIGHT: Final = 150
_GAP: Final = 0.24
"""The part of a column's room that stays empty."""
_LEAST: Final = 2.0


@dataclass(frozen=True, slots=True)
class Upright:
    """The place and the height of a column."""

    left: str
    width: str
    middle: str
    top: str
    height: str


def upright(place: int, count: int, value: float, top: float) -> Upright:
    """The column of `value` at a place among `count`; that of `top` is as high as there is room."""
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
    """In pixels. Little is not nothing."""
    return max(_LEAST, value / top * HEIGHT) if value and top else 0.0


def part(value: float, top: float) -> str:
    """The width of a bar: that of `top` is as wide as there is room."""
    return f"{value / top * 100 if top else 0:.1f}%"


def line(values: Sequence[float], top: float) -> str:
    """The points of a line through the middles of columns, in a box of 100 by `HEIGHT`."""
    room = 100 / len(values) if values else 0.0
    return " ".join(
        f"{place * room + room / 2:.2f},{HEIGHT - (value / top * HEIGHT if top else 0):.1f}"
        for place, value in enumerate(values)
    )


def rounded(top: float) -> int:
    """The end of an axis: the next of 2, 4, 6, 8, 10, 20, 40, …, so that half of it is whole too."""
    unit = 1
    while unit * 10 < top:
        unit *= 10
    return next(step * unit for step in (2, 4, 6, 8, 10) if step * unit >= top)
