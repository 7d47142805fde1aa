"""Search over media. The index is updated with each write of metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.conf import settings

from media.models import Asset, AssetSearchEntry
from proofroom.core import search
from proofroom.core.batches import batches

TABLE: Final = search.SearchTable("media_assetsearchentry", "asset_id")


def index_assets(assets: Iterable[Asset]) -> None:
    """Index the words of files. Words of the alternative text have the highest weight."""
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
    """Index files again that were indexed with earlier word rules. Called after `migrate`."""
    rows = AssetSearchEntry.objects.filter(word_rules__lt=search.WORD_RULES).order_by("id")
    for part in batches(list(rows.values_list("asset_id", flat=True))):
        index_assets(Asset.objects.filter(pk__in=part))
