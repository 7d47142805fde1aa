"""The feeds that a page tells readers of."""

from __future__ import annotations

from typing import TypedDict

from proofroom.definitions import post_types
from proofroom.definitions.list_urls import feed_path, list_path, list_title
from proofroom.website.page_frame import Surroundings


class FeedLink(TypedDict):
    title: str
    url: str


def feeds_of(around: Surroundings, type: str = "") -> list[FeedLink]:
    """Of the page's own type, and of every list that a menu of the page leads to: those have posts."""
    locale = around.place.locale
    linked = {item.get("url") for items in around.menus.values() for item in items}
    return [
        FeedLink(
            title=f"{list_title(definition.name)} · {around.site_name}",
            url=feed_path(definition.name, locale),
        )
        for definition in post_types
        if definition.index_path
        and (definition.name == type or list_path(definition.name, locale) in linked)
    ]
