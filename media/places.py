"""Where a file is used, in sentences."""

from __future__ import annotations

from typing import Final

from media.models import Asset, MediaReference

MOST: Final = 20


def places_of(asset: Asset) -> list[str]:
    """The first places that use the asset, as people read them."""
    rows = MediaReference.objects.filter(asset=asset).order_by(
        "holder_kind", "holder_id", "layer", "path"
    )
    return [str(row) for row in rows[:MOST]]
