"""Figures of a heatmap, written without events, and read cell by cell."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from analytics.models import HeatBatch, HeatSheet
from content.models import Post


def cell(
    post: Post,
    module_id: str = "",
    *,
    x: float,
    y: float,
    count: int = 1,
    device: str = "desktop",
    event_type: str = "click",
    day: date | None = None,
    version: int | None = None,
) -> None:
    """Return the hits of one spot on one day: `x` and `y` are parts of the module, or pixels of a page
    1,000 wide.
    """
    cells, unit, side = (100, 1_000, 10) if len(module_id) > 1 else (0.1, 10, 100)
    across, down = min(99, int(round(x * cells, 6))), int(round(y * cells, 6))
    number = pack(
        across, down, along=round(x * unit) - across * side, deep=round(y * unit) - down * side
    )
    sheet, _ = HeatSheet.objects.get_or_create(
        post_id=post.pk,
        event_type=event_type,
        module_id=module_id,
        device=device,
        version=post.version if version is None else version,
    )
    batch(sheet, day or timezone.now().astimezone(UTC).date(), [number] * count)


def batch(sheet: HeatSheet, day: date, cells: list[int]) -> None:
    """Add a batch of hits after the existing ones."""
    last = HeatBatch.objects.aggregate(last=Max("last_event"))["last"] or 0
    HeatBatch.objects.create(sheet=sheet, day=day, last_event=last + 1, cells=cells)


def pack(across: int, down: int, hits: int = 1, along: int = 0, deep: int = 0) -> int:
    """Return the packed number of these hits."""
    return (down * 2**7 + across) * 2**41 + hits * 2**32 + along * 2**16 + deep


Cells = dict[tuple[Any, ...], tuple[int, int, int]]


def stored_cells() -> Cells:
    """Return the hits of each cell and the sums of their positions, by post, kind of event, day,
    version, device, module, column and row.
    """
    names = ("post_id", "event_type", "day", "version", "device", "module_id")
    rows = HeatBatch.objects.values_list(
        *(name if name == "day" else f"sheet__{name}" for name in names), "cells"
    )
    hits, x_sums, y_sums = Counter[Any](), Counter[Any](), Counter[Any]()
    for post_id, *of_sheet, numbers in rows:
        side = 10 if len(of_sheet[-1]) > 1 else 100
        for number in numbers:
            place, count = number // 2**41, number // 2**32 % 2**9
            across, down = place % 2**7, place // 2**7
            key = (str(UUID(str(post_id))), *of_sheet, across, down)
            hits[key] += count
            has_place = side == 100 or down < 1_000
            x_sums[key] += has_place * across * side * count + number // 2**16 % 2**16
            y_sums[key] += has_place * down * side * count + number % 2**16
    return {key: (hits[key], x_sums[key], y_sums[key]) for key in hits}
