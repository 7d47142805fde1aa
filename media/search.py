"""Search over media: the words of a file are kept whenever what it says of itself is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.conf import settings

from media.models import Asset, AssetSearchEntry
from proofroom.core import search
from proofroom.core.batches import batches

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


def follow_word_rules() -> None:
    """Keep anew the words of files that were cut by earlier rules. Called after `migrate`."""
    rows = AssetSearchEntry.objects.filter(word_rules__lt=search.WORD_RULES).order_by("id")
    for part in batches(list(rows.values_list("asset_id", flat=True))):
        index_assets(Asset.objects.filter(pk__in=part))
