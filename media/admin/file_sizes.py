"""The sizes of an image with what they measure, for people."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from django.core.files.storage import default_storage

from media.images import VARIANTS
from media.models import Asset, AssetStatus, Theme
from media.presenters import url_of
from proofroom.core.i18n import in_words

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Size:
    """One variant. `bytes` is None where the storage does not have the file."""

    theme: str
    name: str
    url: str
    width: int
    height: int
    bytes: int | None


def sizes_of(asset: Asset) -> list[Size]:
    """The variants that are there, light ones first. Asks the storage for each of them."""
    light = asset.variants if asset.status == AssetStatus.READY else {}
    found = []
    for theme, names in ((Theme.LIGHT, light), (Theme.DARK, asset.dark_variants)):
        width, height = asset.width or 1, asset.height or 1
        for name, widest in VARIANTS.items():
            if width > widest:
                width, height = widest, max(1, round(height * widest / width))
            if name in names:
                file = names[name]
                size = Size(
                    in_words(str(theme.label)), name, url_of(file), width, height, _bytes(file)
                )
                found.append(size)
    return found


def _bytes(name: str) -> int | None:
    try:
        return default_storage.size(name)
    except Exception:  # a page about a file must not fail with its storage
        logger.warning("the storage does not say how large %s is", name, exc_info=True)
        return None
