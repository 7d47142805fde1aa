"""Facts about embeds for templates, the delivery API and the editor."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from django.urls import reverse
from django.utils.translation import gettext as _

from content.presenters.embeds import DeliveredEmbedAnswer
from proofroom.definitions.module import AddressNote
from proofroom_apps.embeds.models import EmbedFacts, FactsState
from proofroom_apps.embeds.providers import Provider, find_provider
from proofroom_apps.embeds.services import find_facts, request_facts, retry_facts

Shape = Literal["wide", "standard", "square", "tall"]
_RATIOS: Final[Mapping[Shape, float]] = {
    "wide": 16 / 9,
    "standard": 4 / 3,
    "square": 1.0,
    "tall": 3 / 4,
}


@dataclass(frozen=True, slots=True)
class EmbedCard:
    """The facts that a page shows before a visitor loads an embed. `shape` is empty if the provider names no size."""

    title: str
    author: str
    provider: str
    thumbnail: str
    thumbnail_width: int | None
    thumbnail_height: int | None
    shape: Shape | Literal[""]


def load_cards(urls: Collection[str], locale: str) -> Mapping[str, object]:
    """Return the cards of addresses that have facts, by address. One query."""
    return {url: _card(row) for url, row in _ready(urls).items()}


def load_delivered(urls: Collection[str]) -> Mapping[str, DeliveredEmbedAnswer]:
    """Return the facts of addresses for the delivery API, by address. One query."""
    return {
        url: {
            "provider": row.provider,
            "title": row.title,
            "author": row.author,
            "width": row.width,
            "height": row.height,
            "thumbnail": {
                "url": thumbnail_url(row),
                "width": row.thumbnail_width or 0,
                "height": row.thumbnail_height or 0,
            }
            if row.thumbnail_digest
            else None,
        }
        for url, row in _ready(urls).items()
    }


def thumbnail_url(row: EmbedFacts) -> str:
    """Return the address of the stored thumbnail, which names its content; "" without one."""
    if not row.thumbnail_digest:
        return ""
    return reverse("embed-thumbnail", args=[row.pk, row.thumbnail_digest])


def address_note(url: str, *, requests_facts: bool = False) -> AddressNote | None:
    """Return what the editor shows under an address of a provider; None for other addresses.

    With `requests_facts`, missing facts are requested, and failed requests repeated.
    """
    provider = find_provider(url)
    if provider is None:
        return None
    if requests_facts:
        request_facts([url])
        retry_facts(url)
    row = find_facts([url]).get(url)
    if row is None:
        return AddressNote("new", _("Asking %(provider)s…") % {"provider": provider.name})
    return _note(provider, row)


def _note(provider: Provider, row: EmbedFacts) -> AddressNote:
    names = {"provider": provider.name, "title": row.title, "author": row.author}
    if row.state == FactsState.PENDING:
        return AddressNote("pending", _("Asking %(provider)s…") % names)
    if row.state == FactsState.FAILED:
        sentence = _(
            "%(provider)s gave no details about this address. Check that it is public. Visitors see it without "
            "title and picture unless you add them."
        )
        return AddressNote("failed", sentence % names)
    if row.title and row.author:
        return AddressNote("ok", _("%(provider)s: “%(title)s” by %(author)s") % names)
    return AddressNote("ok", f"{provider.name}: {row.title}" if row.title else provider.name)


def _card(row: EmbedFacts) -> EmbedCard:
    shape: Shape | Literal[""] = ""
    if row.width and row.height:
        ratio = row.width / row.height
        shape = min(_RATIOS.items(), key=lambda one: abs(one[1] - ratio))[0]
    return EmbedCard(
        row.title,
        row.author,
        row.provider,
        thumbnail_url(row),
        row.thumbnail_width,
        row.thumbnail_height,
        shape,
    )


def _ready(urls: Collection[str]) -> dict[str, EmbedFacts]:
    return {url: row for url, row in find_facts(urls).items() if row.state == FactsState.READY}
