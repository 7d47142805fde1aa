"""Where on a page or in a module an event was, as the cell that counts it. Pure: numbers in, numbers out."""

from __future__ import annotations

from math import floor
from typing import Final

from analytics.models import Device

PAGE_CELLS: Final = 100
"""Columns of the page: each 10 pixels of 1,000."""
PAGE_HIGH: Final = 50_000
"""Pixels of a page 1,000 pixels wide: what is further down counts as there."""
NOWHERE: Final = 1_000
"""`down` of the cell of events that know their module, but no place in it."""


Place = tuple[int, int, int, int]
"""Across and down of a cell, and where in it: tenths of a pixel of the page, or of a hundredth of the module."""
_UNKNOWN, _MOBILE = Device.UNKNOWN.value, Device.MOBILE.value
_TABLET, _DESKTOP = Device.TABLET.value, Device.DESKTOP.value


def device_of(width: int | None) -> str:
    """The class of a viewport."""
    if not width:
        return _UNKNOWN
    if width < 768:
        return _MOBILE
    return _TABLET if width < 1_100 else _DESKTOP


def on_page(x: float | None, y: float | None, width: int | None) -> Place | None:
    """The cell of a page 1,000 pixels wide, or None without a place."""
    if x is None or y is None or not width:
        return None
    along = min(max(x / width, 0.0), 1.0)
    deep = min(max(y / width * 1_000, 0.0), float(PAGE_HIGH))
    return (
        min(floor(along * PAGE_CELLS), PAGE_CELLS - 1),
        min(floor(deep / 10), PAGE_HIGH // 10 - 1),
        floor(along * 10_000 + 0.5),
        floor(deep * 10 + 0.5),
    )


def in_module(x: object, y: object) -> Place:
    """The cell of a module's box; `NOWHERE` where what the page said is no place in it."""
    along, deep = _part(x), _part(y)
    if along is None or deep is None:
        return 0, NOWHERE, 0, 0
    return (
        min(floor(along * 100), 99),
        min(floor(deep * 100), 99),
        floor(along * 1_000 + 0.5),
        floor(deep * 1_000 + 0.5),
    )


def _part(given: object) -> float | None:
    """A number from 0 to 1, as databases give what stood in JSON: a number or its text."""
    if not isinstance(given, str | float | int) or isinstance(given, bool):
        return None
    try:
        found = float(given)
    except (ValueError, OverflowError):
        return None
    return found if 0 <= found <= 1 else None
