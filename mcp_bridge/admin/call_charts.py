"""The calls of a time as a picture: a column for each hour or day, what failed at its foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mcp_bridge.call_log import Stretch

HEIGHT: Final = 150
_GAP: Final = 0.25
_LEAST: Final = 2.0
"""Of a column: little is not nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; lengths along the page are percentages. `failed_…` is the part of it that failed."""

    begin: datetime
    total: int
    failed: int
    left: str
    width: str
    middle: str
    top: str
    height: str
    failed_top: str
    failed_height: str
    is_named: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """The picture, and the same in figures: `busy` are the stretches in which anything happened."""

    columns: list[Column]
    total: int
    failed: int
    peak: int
    busy: list[Stretch]


def chart_of(found: Sequence[Stretch]) -> Chart:
    peak = max((stretch.total for stretch in found), default=0)
    every = 4 if len(found) > 7 else 1
    return Chart(
        [
            _column(
                place, stretch, peak, len(found), is_named=(len(found) - 1 - place) % every == 0
            )
            for place, stretch in enumerate(found)
        ],
        sum(stretch.total for stretch in found),
        sum(stretch.failed for stretch in found),
        peak,
        [stretch for stretch in found if stretch.total][::-1],
    )


def _column(place: int, stretch: Stretch, peak: int, count: int, *, is_named: bool) -> Column:
    room = 100 / count
    all_of_it, failed = (_length(number, peak) for number in (stretch.total, stretch.failed))
    return Column(
        begin=stretch.begin,
        total=stretch.total,
        failed=stretch.failed,
        left=f"{place * room + room * _GAP / 2:.2f}%",
        width=f"{room * (1 - _GAP):.2f}%",
        middle=f"{place * room + room / 2:.2f}%",
        top=f"{HEIGHT - all_of_it:.1f}",
        height=f"{all_of_it:.1f}",
        failed_top=f"{HEIGHT - failed:.1f}",
        failed_height=f"{failed:.1f}",
        is_named=is_named,
    )


def _length(number: int, peak: int) -> float:
    return max(_LEAST, number / peak * HEIGHT) if number else 0.0
