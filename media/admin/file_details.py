"""What the page of one file shows beside its forms."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any, Final

from media.admin.file_choice import choice_of
from media.admin.file_sizes import sizes_of
from media.admin.languages import language_name
from media.models import Asset, AssetStatus
from media.presenters import site_image, url_of
from media.services.variants import dark_status
from media.usage_labels import places_of
from proofroom.core.activity.presenters import present
from proofroom.core.activity.queries import Chosen, about, entries
from proofroom.core.actor import Actor

_NEWEST: Final = 12
_SHAPES: Final = (("wide", "16:9"), ("square", "1:1"), ("tall", "4:5"), ("banner", "3:1"))
_RATIOS: Final = ("16:9", "4:3", "3:2", "1:1", "4:5")


@dataclass(frozen=True, slots=True)
class Preview:
    """How a page that crops the image to a shape shows it."""

    name: str
    ratio: str


def shown_of(asset: Asset, actor: Actor) -> dict[str, Any]:
    """All that the template names. A fixed number of queries."""
    image = site_image(asset)
    dark = dark_status(asset) if image else "none"
    # The newest entries of the log about the file, in sentences; sizes are a matter of machines.
    rows = about(entries(Chosen(event="media")), str(asset.pk)).exclude(name="media.variants")
    return {
        "asset": asset,
        "choice": choice_of(asset),
        "image": image,
        "url": url_of(asset.file.name),
        "kilobytes": f"{max(1, round(asset.size / 1000)):,} kB",
        "ratio": _ratio(asset),
        "megapixels": round((asset.width or 0) * (asset.height or 0) / 1e6, 1),
        "previews": [Preview(name, ratio) for name, ratio in _SHAPES] if image else [],
        "crop_ratios": _RATIOS,
        "sizes": sizes_of(asset),
        "dark": dark,
        "dark_url": url_of(asset.dark_variants.get("medium", "")) if asset.dark_variants else "",
        "light_url": url_of(asset.variants.get("medium", "")),
        "failures": list(asset.works.filter(is_given_up=True)),
        "is_waiting": AssetStatus.PROCESSING in (asset.status, dark),
        "places": places_of(asset, actor),
        "words": [(language_name(code), text) for code, text in sorted(asset.alt_texts.items())],
        "history": present(list(rows[:_NEWEST]), actor),
    }


def _ratio(asset: Asset) -> str:
    """`3:2`, where the numbers are small enough to say something."""
    if not (asset.width and asset.height):
        return ""
    common = gcd(asset.width, asset.height)
    across, down = asset.width // common, asset.height // common
    return f"{across}:{down}" if max(across, down) <= 32 else ""
