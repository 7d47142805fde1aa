"""Facts about embedded addresses in the delivery API. The app that stores them registers how to load them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from typing_extensions import TypedDict

from content.document.contents import EMBED
from proofroom.core.hooks import Hook


class EmbedThumbnailAnswer(TypedDict):
    """A picture of an embedded page, stored by this site."""

    url: str
    width: int
    height: int


class DeliveredEmbedAnswer(TypedDict):
    """What the provider says about an embedded address. Texts may be empty."""

    provider: str
    title: str
    author: str
    width: int | None
    height: int | None
    thumbnail: EmbedThumbnailAnswer | None


load_embeds: Final[Hook[[Collection[str]], Mapping[str, DeliveredEmbedAnswer]]] = Hook()
"""Return the stored facts about addresses, by address. One query."""


def embedded_urls(modules: object) -> Iterator[str]:
    """Yield the addresses of the embed modules in the JSON of a post."""
    for module in modules if isinstance(modules, list) else ():
        values: Mapping[str, Any] = {**module["props"], **(module["overrides"] or {})}
        url = values.get("url")
        if module["type"] == EMBED and isinstance(url, str) and url:
            yield url


def find_embeds(urls: Collection[str]) -> dict[str, DeliveredEmbedAnswer]:
    """Return the facts about these addresses, by address. No query without addresses."""
    if not urls:
        return {}
    return {url: facts for found in load_embeds(urls) for url, facts in found.items()}
