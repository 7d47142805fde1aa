"""Find and replace in media: alternative texts and categories. Names and URLs of files are unchanged."""

from __future__ import annotations

from typing import Final

from media import search
from media.metadata import clean_alt_text, clean_categories
from media.models import Asset
from media.scopes import changeable_assets
from proofroom.core.find_replace import Hand, RowSource


def _change(asset: Asset, hand: Hand) -> None:
    text = hand.take("alt_text", asset.alt_text)
    words = [hand.take(f"categories.{place}", word) for place, word in enumerate(asset.categories)]
    if hand.places:
        asset.alt_text = clean_alt_text(str(text))
        asset.categories = clean_categories([str(word) for word in words])
        stored = {f"categories.{place}": word for place, word in enumerate(asset.categories)}
        hand.settle({"alt_text": asset.alt_text, **stored})


MEDIA: Final = RowSource(
    table="media",
    what="media",
    permission="media.edit",
    rows=Asset.objects.all,
    change_row=_change,
    texts=("alt_text",),
    documents=("categories",),
    follow=search.index_assets,
    changeable=changeable_assets,
)
