"""Media in the format of the API and of pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NotRequired, cast

from django.core.files.storage import default_storage
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from media.image_sizes import IMAGE_SIZES
from media.metadata import alt_of
from media.models import Asset, AssetStatus
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import JsonObject, format_time

SIZES: Final = "(min-width: 44rem) 42rem, 100vw"
"""Default value of `sizes`: the width of the text column."""


class SiteImage(TypedDict):
    """An image for an `img` element.

    `focal`: CSS classes that keep the focal point visible in crops; `dark_srcset`: variants for dark themes.
    Both may be empty.
    """

    url: str
    alt: str
    width: int | None
    height: int | None
    srcset: str
    sizes: str
    focal: str
    dark_srcset: str


class SiteRecording(TypedDict):
    """A video or audio file for a player. `captions` are (language, name of the language, URL), the page's first."""

    url: str
    mime: str
    title: str
    is_video: bool
    width: int | None
    height: int | None
    duration: float | None
    poster: str
    captions: list[tuple[str, str, str]]
    is_foreign: bool


MediaStatus = Literal["processing", "ready", "failed"]


class Variants(TypedDict):
    """URLs of WebP images 1600, 800 and 400 pixels wide, or as wide as the file if smaller."""

    large: NotRequired[str]
    medium: NotRequired[str]
    small: NotRequired[str]


class FocalPoint(TypedDict):
    """The point to keep visible in crops, as fractions from the left and the top."""

    x: Annotated[float, Field(ge=0, le=1)]
    y: Annotated[float, Field(ge=0, le=1)]


# The enclosing list converts names to camel case, but the API name is `alt_text`.
@with_config(ConfigDict())
class Media(TypedDict):
    """A file. Variant names are provisional until `status` is `ready`."""

    id: Annotated[str, Field(json_schema_extra={"format": "uuid"})]
    filename: Annotated[str, Field(description="The original file name.")]
    url: str
    size: Annotated[int, Field(ge=0, description="Size in bytes.")]
    mime: str
    variants: Variants
    darkVariants: Variants
    status: MediaStatus
    alt_text: str
    description: str
    categories: list[str]
    width: Annotated[int, Field(ge=1)] | None
    height: Annotated[int, Field(ge=1)] | None
    duration: Annotated[float, Field(ge=0, description="In seconds; of video and audio.")] | None
    poster: (
        Annotated[
            str,
            Field(
                description="The image shown before a video starts.",
                json_schema_extra={"format": "uuid"},
            ),
        ]
        | None
    )
    captions: Annotated[dict[str, str], Field(description="URLs of the WebVTT files by language.")]
    focalPoint: FocalPoint | None
    createdAt: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    updatedAt: Annotated[str, Field(json_schema_extra={"format": "date-time"})]


def url_of(name: str | None) -> str:
    """Return the public URL of a stored file."""
    return default_storage.url(name or "")


def present_asset(asset: Asset) -> Media:
    """Return an asset in API format."""
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
        "duration": asset.duration,
        "poster": str(asset.poster) if asset.poster else None,
        "captions": captions_of(asset),
        "focalPoint": focal_point(asset),
        "createdAt": format_time(asset.created_at),
        "updatedAt": format_time(asset.updated_at),
    }


def captions_of(asset: Asset) -> dict[str, str]:
    """Return the URLs of the captions by language."""
    return {locale: url_of(name) for locale, name in sorted((asset.captions or {}).items())}


def poster_url(asset: Asset) -> str:
    return url_of(asset.poster_file) if asset.poster and asset.poster_file else ""


def format_duration(seconds: float) -> str:
    """Return the time as players show it, such as `3:07` or `1:02:45`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def site_recording(asset: Asset, locale: str = "") -> SiteRecording | None:
    """Return an asset as played on a page in this language, or None if it is neither video nor audio."""
    if not asset.is_recording:
        return None
    captions = sorted(captions_of(asset).items(), key=lambda one: (one[0] != locale, one[0]))
    url = url_of(asset.file.name)
    return SiteRecording(
        url=url,
        mime=asset.mime,
        title=alt_of(asset, locale),
        is_video=asset.mime.startswith("video/"),
        width=asset.width,
        height=asset.height,
        duration=asset.duration,
        poster=poster_url(asset),
        captions=[(code, language_name(code), address) for code, address in captions],
        is_foreign=not url.startswith("/"),
    )


def focal_point(asset: Asset) -> FocalPoint | None:
    """Return the focal point as fractions of width and height, or None for the centre."""
    if asset.focal_x is None or asset.focal_y is None:
        return None
    return {"x": asset.focal_x, "y": asset.focal_y}


ASSET_COLUMNS: Final = (
    "file", "mime", "status", "width", "height", "variants", "dark_variants", "focal_x", "focal_y",
    "alt_text", "alt_texts", "is_decorative", "duration", "poster", "poster_file", "captions",
)  # fmt: skip
"""Columns that `delivered_asset` and `site_image` need."""


def delivered_asset(asset: Asset, locale: str = "") -> JsonObject:
    """Return an asset of a post in the delivery API's format, in a language. Variants only if they are ready."""
    is_ready = asset.status == AssetStatus.READY
    return {
        "url": url_of(asset.file.name),
        "mime": asset.mime,
        "alt": alt_of(asset, locale),
        "width": asset.width,
        "height": asset.height,
        "duration": asset.duration,
        "poster": poster_url(asset) or None,
        "captions": cast(JsonObject, captions_of(asset)),
        "variants": cast(JsonObject, _addresses(asset.variants) if is_ready else {}),
        "darkVariants": cast(JsonObject, _addresses(asset.dark_variants)),
        "focalPoint": cast("JsonObject | None", focal_point(asset)),
    }


def site_image(asset: Asset, locale: str = "") -> SiteImage | None:
    """Return an asset as shown on a page in this language, or None if it is not an image.

    Until its variants are ready, the original file is used.
    """
    if not asset.mime.startswith("image/"):
        return None
    widths = _widths(asset, asset.variants) if asset.status == AssetStatus.READY else {}
    if widths and asset.width and "large" not in asset.variants:
        # The largest variant could not be made, so the original file replaces it.
        widths[asset.width] = url_of(asset.file.name)
    ordered = sorted(widths.items())
    # One class per direction on a grid of five: the style sheet has only these.
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
    """Return the URL of the smallest version of an image, or an empty string for other files."""
    image = site_image(asset)
    return (image["srcset"].partition(" ")[0] or image["url"]) if image else ""


def _addresses(names: Mapping[str, str]) -> Variants:
    found = {size: url_of(name) for size, name in names.items() if size in IMAGE_SIZES}
    return cast(Variants, found)


def _widths(asset: Asset, names: Mapping[str, str]) -> dict[int, str]:
    # Small last: for an image narrower than several variants, the smaller file overwrites the entry with
    # equal width.
    return {
        min(IMAGE_SIZES[size], asset.width or IMAGE_SIZES[size]): url_of(names[size])
        for size in IMAGE_SIZES
        if size in names
    }


def _srcset(widths: Mapping[int, str]) -> str:
    return ", ".join(f"{url} {width}w" for width, url in sorted(widths.items()))


def _fifth(fraction: float) -> int:
    return min(4, max(0, round(fraction * 4)))
