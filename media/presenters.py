"""Media as the wire and the pages see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NotRequired, cast

from django.core.files.storage import default_storage
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from media.image_sizes import IMAGE_SIZES
from media.metadata import alt_of
from media.models import Asset, AssetStatus
from proofroom.core.json import JsonObject, format_time

SIZES: Final = "(min-width: 44rem) 42rem, 100vw"
"""How wide an image is where nothing else is said: as wide as text."""


class SiteImage(TypedDict):
    """An image for an `img` element: width and height give the shape, `srcset` the choice.

    `focal` are the CSS classes that keep the focal point in sight where the image is cropped, `dark_srcset` the
    choice for dark themes; both are empty where there is none.
    """

    url: str
    alt: str
    width: int | None
    height: int | None
    srcset: str
    sizes: str
    focal: str
    dark_srcset: str


MediaStatus = Literal["processing", "ready", "failed"]


class Variants(TypedDict):
    """The addresses of WebP images 1600, 800 and 400 pixels wide, or as wide as the file where that is less."""

    large: NotRequired[str]
    medium: NotRequired[str]
    small: NotRequired[str]


class FocalPoint(TypedDict):
    """The point that stays in sight where an image is cropped: fractions from the left and the top."""

    x: Annotated[float, Field(ge=0, le=1)]
    y: Annotated[float, Field(ge=0, le=1)]


# Not in the camel case of a list around it: `alt_text` is the name on the wire.
@with_config(ConfigDict())
class Media(TypedDict):
    """A file. The names are those that are planned until `status` is `ready`."""

    id: Annotated[str, Field(json_schema_extra={"format": "uuid"})]
    filename: Annotated[str, Field(description="The name that it came with.")]
    url: str
    size: Annotated[int, Field(ge=0, description="Bytes.")]
    mime: str
    variants: Variants
    darkVariants: Variants
    status: MediaStatus
    alt_text: str
    description: str
    categories: list[str]
    width: Annotated[int, Field(ge=1)] | None
    height: Annotated[int, Field(ge=1)] | None
    focalPoint: FocalPoint | None
    createdAt: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    updatedAt: Annotated[str, Field(json_schema_extra={"format": "date-time"})]


def url_of(name: str | None) -> str:
    """The path of a stored file, as visitors ask for it."""
    return default_storage.url(name or "")


def present_asset(asset: Asset) -> Media:
    """An asset by the wire names of the API."""
    return {
        "id": str(asset.pk),
        "filename": asset.filename,
        "url": url_of(asset.file.name),
        "size": asset.size,
        "mime": asset.mime,
        "variants": _addresses(asset.variants),
        "darkVariants": _addresses(asset.dark_variants),
        "status": cast(MediaStatus, asset.status),
        "alt_text": asset.alt_text,
        "description": asset.description,
        "categories": asset.categories,
        "width": asset.width,
        "height": asset.height,
        "focalPoint": focal_point(asset),
        "createdAt": format_time(asset.created_at),
        "updatedAt": format_time(asset.updated_at),
    }


def focal_point(asset: Asset) -> FocalPoint | None:
    """The focal point in fractions of width and height; None for the middle."""
    if asset.focal_x is None or asset.focal_y is None:
        return None
    return {"x": asset.focal_x, "y": asset.focal_y}


def delivered_asset(asset: Asset, locale: str = "") -> JsonObject:
    """An asset as frontends get it with a post in a language: variants only when they are there."""
    is_ready = asset.status == AssetStatus.READY
    return {
        "url": url_of(asset.file.name),
        "mime": asset.mime,
        "alt": alt_of(asset, locale),
        "width": asset.width,
        "height": asset.height,
        "variants": cast(JsonObject, _addresses(asset.variants) if is_ready else {}),
        "darkVariants": cast(JsonObject, _addresses(asset.dark_variants)),
        "focalPoint": cast("JsonObject | None", focal_point(asset)),
    }


def site_image(asset: Asset, locale: str = "") -> SiteImage | None:
    """An asset as a page in this language shows it; None for what is no image.

    Until its variants are ready, the file itself.
    """
    if not asset.mime.startswith("image/"):
        return None
    widths = _widths(asset, asset.variants) if asset.status == AssetStatus.READY else {}
    if widths and asset.width and "large" not in asset.variants:
        # The largest size could not be made: the file itself stands for it.
        widths[asset.width] = url_of(asset.file.name)
    ordered = sorted(widths.items())
    # One class for each direction, on a grid of five: the style sheet knows these and no others.
    if asset.focal_x is None or asset.focal_y is None:
        focal = ""
    else:
        focal = f"focal-x{_fifth(asset.focal_x)} focal-y{_fifth(asset.focal_y)}"
    return SiteImage(
        url=ordered[-1][1] if ordered else url_of(asset.file.name),
        alt=alt_of(asset, locale),
        width=asset.width,
        height=asset.height,
        srcset=_srcset(widths) if len(ordered) > 1 else "",
        sizes=SIZES,
        focal=focal,
        dark_srcset=_srcset(_widths(asset, asset.dark_variants)),
    )


def smallest_url(asset: Asset) -> str:
    """The address of the smallest picture of an image; empty for another file."""
    image = site_image(asset)
    return (image["srcset"].partition(" ")[0] or image["url"]) if image else ""


def _addresses(names: Mapping[str, str]) -> Variants:
    found = {size: url_of(name) for size, name in names.items() if size in IMAGE_SIZES}
    return cast(Variants, found)


def _widths(asset: Asset, names: Mapping[str, str]) -> dict[int, str]:
    # Small last: what two variants of a small image share in width is then fetched in fewer bytes.
    return {
        min(IMAGE_SIZES[size], asset.width or IMAGE_SIZES[size]): url_of(names[size])
        for size in IMAGE_SIZES
        if size in names
    }


def _srcset(widths: Mapping[int, str]) -> str:
    return ", ".join(f"{url} {width}w" for width, url in sorted(widths.items()))


def _fifth(fraction: float) -> int:
    return min(4, max(0, round(fraction * 4)))
