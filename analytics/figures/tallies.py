"""Events turned into what is counted of them. Pure: the same events in any order give the same tallies."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, NamedTuple
from uuid import UUID

from analytics.figures.hosts import referrer_of
from analytics.figures.places import NOWHERE, Place, device_of, in_module, on_page
from analytics.models import Device, Dimension, EventType, Grain

ALONE: Final = ""
"""The `module_id` of cells of the page, of events that have no cell of a module."""
ALSO: Final = "~"
"""And of events that have one."""
_DAY: Final = Grain.DAY.value
_MONTH: Final = Grain.MONTH.value
FORM: Final = "form:"
"""Begins the goal of a form that was taken, which is no click."""
_MODULE: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


class Row(NamedTuple):
    """An event, as it is read: ids as texts of the database, what stood in its metadata as it stood there."""

    event_type: str
    post_id: str | None
    variation_of: str | None
    locale: str
    version: int | None
    goal: str
    created_at: datetime
    viewport_width: int | None
    x: float | None
    y: float | None
    referrer: object
    module: object
    module_x: object
    module_y: object


class CountKey(NamedTuple):
    """Of `SiteCount`, where `post_id` is empty, and of `PostCount`."""

    post_id: str
    dimension: str
    grain: str
    day: date
    value: str


class CellKey(NamedTuple):
    """Of `HeatCell`."""

    post_id: str
    event_type: str
    grain: str
    day: date
    version: int
    device: str
    module_id: str
    across: int
    down: int


class _Alike(NamedTuple):
    """What events have in common that count alike."""

    day: date
    event_type: str
    post_id: str | None
    variation_of: str | None
    locale: str
    device: Device
    referrer: str
    goal: str
    module: str


@dataclass(slots=True)
class Tallies:
    """Views, clicks and conversions of counts; hits, and the sums of their places, of cells."""

    counts: dict[CountKey, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0] * 3))
    cells: dict[CellKey, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0] * 3))


def tally(rows: Iterable[Row]) -> Tallies:
    """By day and by month."""
    days = Tallies()
    groups: Counter[_Alike] = Counter()
    for row in rows:
        day, device = row.created_at.date(), device_of(row.viewport_width)
        is_click = row.event_type == EventType.CLICK
        module = _module(row.module) if is_click and row.module is not None else ""
        referrer = "" if is_click else referrer_of(row.referrer)
        groups[
            _Alike(
                day, row.event_type, row.post_id, row.variation_of, row.locale, device,
                referrer, row.goal, module,
            )
        ] += 1  # fmt: skip
        if row.post_id is not None and not row.goal.startswith(FORM):
            _add_cells(days.cells, row, day, device, module)
    for alike, times in groups.items():
        for key, numbers in _counts(alike, times):
            _add(days.counts[key], numbers)
    return _with_months(days)


def _module(given: object) -> str:
    text = given.lower() if isinstance(given, str) else ""
    return text if _MODULE.fullmatch(text) else ""


def _add_cells(
    cells: dict[CellKey, list[int]], row: Row, day: date, device: Device, module: str
) -> None:
    base = CellKey(
        str(row.post_id), row.event_type, _DAY, day, row.version or 0, device.value, "", 0, 0
    )
    kind = ALONE
    if module:
        box = in_module(row.module_x, row.module_y)
        kind = ALONE if box.down == NOWHERE else ALSO
        _add_place(cells, base, module, box)
    page = on_page(row.x, row.y, row.viewport_width)
    if page is not None:
        _add_place(cells, base, kind, page)


def _add_place(
    cells: dict[CellKey, list[int]], base: CellKey, module_id: str, place: Place
) -> None:
    key = base._replace(module_id=module_id, across=place.across, down=place.down)
    _add(cells[key], (1, place.x, place.y))


def _counts(alike: _Alike, times: int) -> Iterator[tuple[CountKey, tuple[int, int, int]]]:
    """What a number of like events adds to."""
    is_form = alike.goal.startswith(FORM)
    views = times if alike.event_type == EventType.VIEW else 0
    clicks = 0 if views or is_form else times
    reached = 0 if views or not alike.goal else times
    numbers = (views, clicks, reached)
    values = [
        (Dimension.TOTAL, "", numbers),
        (Dimension.LOCALE, alike.locale, numbers),
        (Dimension.DEVICE, alike.device.value, numbers),
    ]
    if views:
        values.append((Dimension.REFERRER, alike.referrer, (views, 0, 0)))
    if reached:
        values.append((Dimension.GOAL, alike.goal, (0, 0, reached)))
    for post_id in dict.fromkeys(("", alike.post_id, alike.variation_of)):
        if post_id is None:
            continue
        own = list(values)
        if post_id and alike.module and clicks:
            own.append((Dimension.MODULE, alike.module, (0, clicks, 0)))
        if alike.post_id and post_id == alike.variation_of:
            arm = str(UUID(alike.post_id))
            own.append((Dimension.ARM, arm, numbers))
            if reached:
                own.append((Dimension.ARM, f"{arm} {alike.goal}", (0, 0, reached)))
        for dimension, value, given in own:
            yield CountKey(post_id, dimension.value, _DAY, alike.day, value), given


def _with_months(days: Tallies) -> Tallies:
    whole = Tallies()
    for key, numbers in days.counts.items():
        whole.counts[key] = numbers
        _add(whole.counts[key._replace(grain=_MONTH, day=key.day.replace(day=1))], numbers)
    for cell, numbers in days.cells.items():
        whole.cells[cell] = numbers
        _add(whole.cells[cell._replace(grain=_MONTH, day=cell.day.replace(day=1))], numbers)
    return whole


def _add(sums: list[int], numbers: Iterable[int]) -> None:
    for place, number in enumerate(numbers):
        sums[place] += number
