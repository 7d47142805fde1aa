"""Figures counted naively, one event at a time: the expected content of the tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from analytics.models import AnalyticsEvent, PostCount, SiteCount
from analytics.rollups.aggregate import months_to
from tests.analytics.heat_cells import stored_cells

Counts = dict[tuple[Any, ...], tuple[int, ...]]


def _device(width: int | None) -> str:
    if width is None:
        return "unknown"
    return "mobile" if width < 768 else "tablet" if width < 1100 else "desktop"


def counted(events: Iterable[AnalyticsEvent] | None = None) -> tuple[Counts, Counts]:
    """Return counts by (post or None, dimension, grain, day, value), and cells by their keys."""
    counts: Counter[tuple[Any, ...]] = Counter()
    cells: Counter[tuple[Any, ...]] = Counter()
    ends = months_to()
    for event in AnalyticsEvent.objects.all() if events is None else events:
        day = event.created_at.date()
        for grain, begin in (("day", day), ("month", day.replace(day=1))):
            if grain == "month" and begin >= ends:
                continue
            for key in _keys(event):
                counts[(key[0], key[1], grain, begin, key[2], key[3])] += 1
        for cell, x, y in _cells(event):
            whole = (str(event.post_id), event.event_type, event.created_at.date(), *cell)
            cells[(*whole, 0)] += 1
            cells[(*whole, 1)] += x
            cells[(*whole, 2)] += y
    return _rows(counts), _rows(cells)


def _keys(event: AnalyticsEvent) -> Iterable[tuple[Any, str, str, int]]:
    said = event.metadata
    is_click = event.event_type == "click"
    is_form = event.goal.startswith("form:")
    what = [0] if not is_click else ([] if is_form else [1]) + ([2] if event.goal else [])
    posts = {None, event.post_id, event.variation_of} if event.post_id else {None}
    for post in posts:
        for place in what:
            yield post, "total", "", place
            yield post, "locale", event.locale, place
            yield post, "device", _device(event.viewport_width), place
            if place == 0:
                yield post, "referrer", said.get("referrer", ""), 0
            if place == 2:
                yield post, "goal", event.goal, 2
            if place == 1 and post and said.get("postModuleId"):
                yield post, "module", said["postModuleId"], 1
            if post and post == event.variation_of:
                yield post, "arm", str(event.post_id), place
                if place == 2:
                    yield post, "arm", f"{event.post_id} {event.goal}", 2


def _cells(event: AnalyticsEvent) -> Iterable[tuple[tuple[Any, ...], int, int]]:
    if event.post_id is None or event.goal.startswith("form:"):
        return
    said, start = event.metadata, (event.version or 0, _device(event.viewport_width))
    module = said.get("postModuleId") if event.event_type == "click" else None
    kind = ""
    if module and "moduleX" in said:
        x, y = said["moduleX"], said["moduleY"]
        kind = "~"
        place = (min(int(x * 100), 99), min(int(y * 100), 99))
        yield (*start, module, *place), math.floor(x * 1000 + 0.5), math.floor(y * 1000 + 0.5)
    elif module:
        yield (*start, module, 0, 1000), 0, 0
    if event.x is not None and event.y is not None and event.viewport_width:
        x = min(event.x / event.viewport_width, 1)
        y = min(event.y / event.viewport_width * 1000, 50_000)
        place = (min(int(x * 100), 99), min(int(y / 10), 4999))
        yield (*start, kind, *place), math.floor(x * 10_000 + 0.5), math.floor(y * 10 + 0.5)


def _rows(counter: Counter[tuple[Any, ...]]) -> Counts:
    found: dict[tuple[Any, ...], list[int]] = {}
    for key, number in counter.items():
        found.setdefault(key[:-1], [0, 0, 0])[key[-1]] = number
    return {key: tuple(numbers) for key, numbers in found.items()}


def stored() -> tuple[Counts, Counts]:
    """Return the content of the tables in the same form."""
    names = ("dimension", "grain", "day", "value", "views", "clicks", "conversions")
    rows = [(None, *row) for row in SiteCount.objects.values_list(*names)]
    rows += PostCount.objects.values_list("post_id", *names)
    return {row[:-3]: row[-3:] for row in rows}, dict(stored_cells())
