"""A menu on its own, for frontends: the same links that the site's pages show."""

from __future__ import annotations

from content.site.linked import Asked, linked
from content.site.links import MenuLink, Place, menu_links, menu_post_ids
from content.site.queries import MenuItems


def shown_links(items: MenuItems, locale: str) -> list[MenuLink]:
    """What visitors see of a menu in a language. One query, none where it names no post."""
    ids = menu_post_ids(items)
    found = linked(Asked(locale, post_ids=list(ids)))
    return menu_links(items, Place("", locale), found.neighbours)
