"""Labels of the places where a file is used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from media import usage_sources
from media.models import Asset
from media.queries import where_used
from proofroom.core.actor import Actor

MAX_PLACES: Final = 20
_CAPITAL: Final = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class UsagePlace:
    """`sentence` has the path, as programs need it; `words` say it to people. `address` is its page in the admin."""

    sentence: str
    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Places:
    """`total` places, and the first of them, which name only what the actor may see."""

    total: int
    named: Sequence[UsagePlace]

    @property
    def further(self) -> int:
        return self.total - len(self.named)


def places_of(asset: Asset, actor: Actor) -> Places:
    """The places that use the file. A fixed number of queries."""
    rows = where_used(asset.pk)
    visible = list(where_used(asset.pk, layers=usage_sources.visible_layers(actor))[:MAX_PLACES])
    named = [
        UsagePlace(
            f"{_holder(place)}: {place['path']}", f"{_holder(place)}: {_words(place)}", address
        )
        for place, address in usage_sources.places_with_addresses(visible, actor)
    ]
    return Places(rows.count(), named)


def _holder(place: usage_sources.MediaPlace) -> str:
    title = place["title"] or place["globalSlug"] or "Content you may not see, or in the trash"
    locale = f" ({place['locale']})" if place["locale"] else ""
    return f"{title}{locale}, {place['layer']}"


def _words(place: usage_sources.MediaPlace) -> str:
    """The last name of the path in words: `modules.….props.items.0.imageId` is "image of a module"."""
    path = str(place["path"])
    names = [part for part in path.split(".") if not part.isdigit()]
    name = _CAPITAL.sub(lambda found: f" {found[0].lower()}", names[-1].removesuffix("Id"))
    return f"{name} of a module" if path.startswith("modules.") else name
