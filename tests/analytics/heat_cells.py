"""Figures of a heatmap, written as they are added up, without the events."""

from __future__ import annotations

from datetime import UTC, date

from django.utils import timezone

from analytics.models import HeatCell, HeatSheet
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
    """Hits of one spot on one day: `x` and `y` are parts of the module, or pixels of a page 1,000 wide."""
    side, unit = (100, 1_000) if len(module_id) > 1 else (0.1, 10)
    shown = day or timezone.now().astimezone(UTC).date()
    place = {"across": min(99, int(round(x * side, 6))), "down": int(round(y * side, 6))}
    sheet, _ = HeatSheet.objects.get_or_create(
        post_id=post.pk,
        event_type=event_type,
        module_id=module_id,
        device=device,
        version=post.version if version is None else version,
    )
    found, _ = HeatCell.objects.get_or_create(sheet=sheet, day=shown, **place)
    found.count += count
    found.x_sum += round(x * unit) * count
    found.y_sum += round(y * unit) * count
    found.save()
