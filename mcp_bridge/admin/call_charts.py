"""The calls of a time as a picture: a column for each hour or day, what failed at its foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.admin.charts import Upright, upright
from mcp_bridge.call_log import Stretch


@dataclass(frozen=True, slots=True)
class Column:
    """A stretch of time. `drawn_failed` is the part of its column that failed."""

    begin: datetime
    total: int
    failed: int
    drawn: Upright
    drawn_failed: Upright
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
    return Column(
        begin=stretch.begin,
        total=stretch.total,
        failed=stretch.failed,
        drawn=upright(place, count, stretch.total, peak),
        drawn_failed=upright(place, count, stretch.failed, peak),
        is_named=is_named,
    )
