"""Answers requests for files that are gone, or still to be made."""

from __future__ import annotations

import re
from typing import Final

from media.models import Asset, AssetStatus, StoredFile
from media.queries import load_assets_by_name

_VARIANT: Final = re.compile(r".*[0-9a-f]{32}(-dark)?-(large|medium|small)\.webp")
_LONGEST: Final = StoredFile._meta.get_field("name").max_length or 300


def present_name(name: str) -> str | None:
    """The name of the file to show instead, or None where the name leads nowhere else. One query."""
    if len(name) > _LONGEST or "\x00" in name:
        return None
    asset = load_assets_by_name((), (name,)).by_name.get(name)
    if asset is None:
        return None
    found = _same_of(asset, name)
    return found if found != name else None


def _same_of(asset: Asset, name: str) -> str:
    """The file of the asset, or that of its variants that the name is one of."""
    variant = _VARIANT.fullmatch(name)
    if variant is None:
        return str(asset.file.name)
    is_dark, size = variant.groups()
    if is_dark and size in asset.dark_variants and asset.dark_variants[size] != name:
        return str(asset.dark_variants[size])
    if asset.status == AssetStatus.READY and asset.variants.get(size) not in (None, name):
        return str(asset.variants[size])
    return str(asset.file.name)
