"""Menus as the wire has them: to be edited, and to be shown."""

from __future__ import annotations

from collections.abc import Sequence

from content.models import Menu
from content.presenters.modules import Wire
from content.site.links import MenuLink
from content.store import iso


def menu(row: Menu) -> Wire:
    """As it was written, for whoever edits it."""
    return {
        "id": str(row.pk),
        "name": row.name,
        "slug": row.slug,
        "locale": row.locale,
        "items": row.items,
        "version": row.version,
        "updatedAt": iso(row.updated_at),
    }


def shown_menu(row: Menu, links: Sequence[MenuLink]) -> Wire:
    """As visitors see it."""
    return {
        "id": str(row.pk),
        "name": row.name,
        "slug": row.slug,
        "locale": row.locale,
        "items": [_shown(link) for link in links],
    }


def _shown(link: MenuLink) -> Wire:
    return {
        "id": link["id"],
        "label": link["label"],
        "type": link["type"],
        "url": link["url"],
        "children": [_shown(child) for child in link["children"]],
    }
