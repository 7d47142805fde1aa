"""Search over media: the words of a file are kept whenever what it says of itself is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.conf import settings

from media.models import Asset
from proofroom.core import search

TABLE: Final = search.SearchTable("media_assetsearchentry", "asset_id")


def index_assets(assets: Iterable[Asset]) -> None:
    """Keep the words of files that were written just now. Those of the alt text weigh most."""
    locale = settings.CMS_ENV.default_locale
    search.put(
        TABLE,
        [
            search.SearchText(
                asset.pk,
                locale,
                (asset.alt_text, asset.description, asset.filename, "\n".join(asset.categories)),
            )
            for asset in assets
        ],
    )
