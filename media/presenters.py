"""Media as the wire and the pages see them."""

from __future__ import annotations

from datetime import UTC
from typing import TypedDict

from django.core.files.storage import default_storage

from core.json import JsonObject
from media.images import VARIANTS
from media.models import Asset


class SiteImage(TypedDict):
    """What a template needs for an `img` element: width and height give the shape, `srcset` the choice."""

    url: str
    alt: str
    width: int | None
    height: int | None
    srcset: str


def url_of(name: str | None) -> str:
    """The path of a stored file, as visitors ask for it."""
    return default_storage.url(name or "")


def present_asset(asset: Asset) -> JsonObject:
    """An asset by the wire names of the API."""
    return {
        "id": str(asset.pk),
        "filename": asset.filename,
        "url": url_of(asset.file.name),
        "size": asset.size,
        "mime": asset.mime,
        "variants": {
            size: url_of(name) for size, name in asset.variants.items() if size in VARIANTS
        },
        "alt_text": asset.alt_text,
        "categories": asset.categories,
        "width": asset.width,
        "height": asset.height,
        "createdAt": asset.created_at.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
    }


def site_image(asset: Asset) -> SiteImage | None:
    """An asset as a page shows it; None for what is no image."""
    if not asset.mime.startswith("image/"):
        return None
    # Small first: what two variants of a small image share in width is then fetched in fewer bytes.
    widths = {
        min(VARIANTS[size], asset.width or VARIANTS[size]): url_of(name)
        for size, name in asset.variants.items()
        if size in VARIANTS
    }
    ordered = sorted(widths.items())
    return SiteImage(
        url=ordered[-1][1] if ordered else url_of(asset.file.name),
        alt=asset.alt_text,
        width=asset.width,
        height=asset.height,
        srcset=", ".join(f"{url} {width}w" for width, url in ordered) if len(ordered) > 1 else "",
    )
