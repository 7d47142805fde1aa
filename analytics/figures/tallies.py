"""Events turned into what is counted of them. Pure: the same events in any order give the same tallies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final
from uuid import UUID

from analytics.figures.hosts import referrer_of
from analytics.figures.places import NOWHERE, device_of, in_module, on_page
from analytics.models import Dimension, EventType, Grain

ALONE: Final = ""
"""The `module_id` of cells of the page, of events that have no cell of a module."""
ALSO: Final = "~"
"""And of events that have one."""
FORM: Final = "form:"
"""Begins the goal of a form that was taken, which is no click."""
_MODULE: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_DAY: Final = Grain.DAY.value
_VIEW: Final = EventType.VIEW.value
_TOTAL, _LOCALE, _DEVICE = Dimension.TOTAL.value, Dimension.LOCALE.value, Dimension.DEVICE.value
_REFERRER, _MODULES = Dimension.REFERRER.value, Dimension.MODULE.value
_GOAL, _ARM = Dimension.GOAL.value, Dimension.ARM.value

# Plain tuples: there is one for each event and count, and named ones take several times as long to make.
Row = tuple[
    int, str, str | None, str | None, str, int | None, str, datetime, int | None, float | None,
    float | None, object, object, object, object,
]  # fmt: skip
"""An event: id, type, post, original, locale, version, goal, time, width, x, y, and what its metadata says of
referrer, module, and x and y in it."""
CountKey = tuple[str, str, str, date, str]
"""Of a count: post (empty for the site), dimension, grain, day, value."""
SheetKey = tuple[str, str, str, str, int]
"""Of a sheet: post, type of event, module, device, version."""
CellKey = tuple[SheetKey, date, int, int]
"""Of a cell: sheet, day, across, down."""
_Alike = tuple[date, bool, str | None, str | None, str, str, str]
"""What events have in common that count alike: day, whether a view, post, original, locale, device, goal."""
_Said = tuple[date, str | None, str | None, str]


def _zeros() -> list[int]:
    return [0, 0, 0]


@dataclass(slots=True)
class Tallies:
    """Views, clicks and conversions of counts; hits, and the sums of their places, of cells."""

    counts: defaultdict[CountKey, list[int]] = field(default_factory=lambda: defaultdict(_zeros))
    cells: defaultdict[CellKey, list[int]] = field(default_factory=lambda: defaultdict(_zeros))


def tally(rows: Iterable[Row]) -> Tallies:
    """By day."""
    days = Tallies()
    alike: defaultdict[_Alike, int] = defaultdict(int)
    referrers: defaultdict[_Said, int] = defaultdict(int)
    modules: defaultdict[_Said, int] = defaultdict(int)
    for row in rows:
        _, kind, post, original, locale, _, goal, at, width, _, _, host, module, _, _ = row
        day, is_view = at.date(), kind == _VIEW
        alike[day, is_view, post, original, locale, device_of(width), goal] += 1
        if is_view:
            referrers[day, post, original, referrer_of(host)] += 1
        if post is None or goal.startswith(FORM):
            continue
        own = "" if is_view or module is None else _module(module)
        if own:
            modules[day, post, original, own] += 1
        _add_cells(days.cells, row, day, own)
    for group, times in alike.items():
        _add_alike(days.counts, group, times)
    _add_said(days.counts, _REFERRER, referrers, 0)
    _add_said(days.counts, _MODULES, modules, 1)
    return days


def _module(given: object) -> str:
    text = given.lower() if isinstance(given, str) else ""
    return text if _MODULE.fullmatch(text) else ""


def _add_cells(cells: defaultdict[CellKey, list[int]], row: Row, day: date, module: str) -> None:
    _, kind, post, _, _, version, _, _, width, x, y, _, _, module_x, module_y = row
    device, number = device_of(width), version or 0
    page_kind = ALONE
    if module:
        across, down, along, deep = in_module(module_x, module_y)
        page_kind = ALONE if down == NOWHERE else ALSO
        sheet = (str(post), kind, module, device, number)
        _add(cells[sheet, day, across, down], 1, along, deep)
    place = on_page(x, y, width)
    if place is not None:
        across, down, along, deep = place
        sheet = (str(post), kind, page_kind, device, number)
        _add(cells[sheet, day, across, down], 1, along, deep)


def _add_alike(counts: defaultdict[CountKey, list[int]], group: _Alike, times: int) -> None:
    """What a number of like events adds to the site, to its post, and to the original of a test."""
    day, is_view, post, original, locale, device, goal = group
    views = times if is_view else 0
    clicks = 0 if is_view or goal.startswith(FORM) else times
    reached = times if goal and not is_view else 0
    for of in {"", post or "", original or ""}:
        for dimension, value in ((_TOTAL, ""), (_LOCALE, locale), (_DEVICE, device)):
            _add(counts[of, dimension, _DAY, day, value], views, clicks, reached)
        if reached:
            _add(counts[of, _GOAL, _DAY, day, goal], 0, 0, reached)
    if post is not None and original is not None:
        arm = str(UUID(post))
        _add(counts[original, _ARM, _DAY, day, arm], views, clicks, reached)
        if reached:
            _add(counts[original, _ARM, _DAY, day, f"{arm} {goal}"], 0, 0, reached)


def _add_said(
    counts: defaultdict[CountKey, list[int]],
    dimension: str,
    said: dict[_Said, int],
    place: int,
) -> None:
    """What pages said of views (0) or clicks (1). The site has no modules of its own."""
    for (day, post, original, value), times in said.items():
        for of in {"", post or "", original or ""}:
            if of or dimension == _REFERRER:
                counts[of, dimension, _DAY, day, value][place] += times


def _add(sums: list[int], one: int, two: int, three: int) -> None:
    sums[0] += one
    sums[1] += two
    sums[2] += three
