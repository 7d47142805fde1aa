"""A file in pickers and lists of uploads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson
from django.urls import reverse

from media.metadata import alt_of
from media.models import Asset, AssetStatus
from media.presenters import format_duration, poster_url, url_of
from media.queries import RECORDINGS
from proofroom.core.json import JsonObject

IMAGE: Final = "image"
DOCUMENT: Final = "document"
VIDEO: Final = "video"
AUDIO: Final = "audio"
RECORDING: Final = "recording"
"""Videos and audio files together, for pickers."""
TYPES: Final = {
    IMAGE: "image",
    DOCUMENT: "application",
    VIDEO: "video",
    AUDIO: "audio",
    RECORDING: RECORDINGS,
}
"""Kinds of files, with the start of their media types."""


@dataclass(frozen=True, slots=True)
class MediaChoice:
    """A file with the data of its tile. `thumbnail` is empty for other files than images."""

    asset: Asset
    alt: str
    thumbnail: str
    address: str

    @property
    def kind(self) -> str:
        start = self.asset.mime.partition("/")[0]
        return start if start in (IMAGE, VIDEO, AUDIO) else DOCUMENT

    @property
    def lacks_alt(self) -> bool:
        return self.kind == IMAGE and not self.alt and not self.asset.is_decorative

    @property
    def kilobytes(self) -> int:
        return max(1, round(self.asset.size / 1000))

    @property
    def type(self) -> str:
        """Usual name of the type, such as `PNG` or `PDF`."""
        name = self.asset.mime.rpartition("/")[2].upper()
        return {"MPEG": "MP3"}.get(name, name)

    @property
    def extent(self) -> str:
        """Return pixels and duration, as far as the file has them."""
        parts = []
        if self.asset.duration is not None:
            parts.append(format_duration(self.asset.duration))
        if self.asset.width and self.asset.height:
            parts.append(f"{self.asset.width}\u00a0×\u00a0{self.asset.height}")
        return " · ".join(parts)

    def as_json(self) -> JsonObject:
        """Return the data with the names that the scripts use."""
        return {
            "id": str(self.asset.pk),
            "title": self.asset.filename,
            "alt": self.alt,
            "thumbnail": self.thumbnail or None,
            "width": self.asset.width,
            "height": self.asset.height,
            "kind": self.kind,
            "address": self.address,
            "url": url_of(self.asset.file.name),
            "status": self.asset.status,
            "isDecorative": self.asset.is_decorative,
            "facts": " · ".join(filter(None, (self.type, self.extent))),
        }

    @property
    def json(self) -> str:
        return orjson.dumps(self.as_json()).decode()


def choice_of(asset: Asset, language: str = "") -> MediaChoice:
    address = reverse("admin:media_asset_change", args=[asset.pk])
    return MediaChoice(asset, alt_of(asset, language), thumbnail_of(asset), address)


def thumbnail_of(asset: Asset) -> str:
    """Return the URL of the smallest image or of the poster, or an empty string for other files."""
    if asset.poster_file:
        return poster_url(asset)
    if not asset.mime.startswith("image/"):
        return ""
    name = asset.variants.get("small") if asset.status == AssetStatus.READY else None
    return url_of(name or asset.file.name)
