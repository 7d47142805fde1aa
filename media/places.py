"""Where a file is used, in words for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.actor import Actor
from core.json import JsonObject
from media import holders
from media.models import Asset
from media.queries import where_used

MOST: Final = 20


@dataclass(frozen=True, slots=True)
class Places:
    """`total` places, and the first of them in sentences that name only what the actor may see."""

    total: int
    named: Sequence[str]

    @property
    def further(self) -> int:
        return self.total - len(self.named)


def places_of(asset: Asset, actor: Actor) -> Places:
    """The places that use the file. A fixed number of queries."""
    rows = where_used(asset.pk)
    visible = where_used(asset.pk, layers=holders.visible_layers(actor))
    named = [_sentence(place) for place in holders.places(visible[:MOST], actor)]
    return Places(rows.count(), named)


def _sentence(place: JsonObject) -> str:
    title = place["title"] or place["globalSlug"] or "Content you may not see, or in the trash"
    locale = f" ({place['locale']})" if place["locale"] else ""
    return f"{title}{locale}, {place['layer']}: {place['path']}"
