"""Find and replace in menus: their names, item labels, and addresses of items without a post."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from proofroom.core.actor import Actor
from proofroom.core.find_replace import Hand, RowRevisions, RowSource
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import clean_name
from proofroom.shared_content.revisions import SharedChange, record_revisions
from proofroom.shared_content.shared_types import MENU
from proofroom_apps.menus.items import clean_items
from proofroom_apps.menus.links import menu_post_ids
from proofroom_apps.menus.models import NAME_MAX, Menu
from proofroom_apps.menus.services import menu_document


def _change_menu(menu: Menu, hand: Hand) -> None:
    name = hand.take("name", menu.name)
    items = _edit_items(menu.items, hand, "items")
    if not hand.places:
        return
    menu.name = clean_name(name, NAME_MAX)
    # Replaced addresses must be valid. Posts deleted meanwhile must not block the change.
    menu.items = clean_items(items, frozenset(map(str, menu_post_ids(menu.items))))
    menu.version += 1
    hand.settle({"name": menu.name, **dict(_texts_of(menu.items, "items"))})


def _edit_items(items: Json, hand: Hand, path: str) -> list[Json]:
    """Replace in the labels of items, and in the addresses of items without a post."""
    edited: list[Json] = []
    for place, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, Mapping):
            here = f"{path}.{place}"
            taken = {name: hand.take(f"{here}.{name}", item[name]) for name in _names_of(item)}
            children = _edit_items(item.get("children"), hand, f"{here}.children")
            item = {**item, **taken, "children": children}
        edited.append(item)
    return edited


def _texts_of(items: Json, path: str) -> Iterator[tuple[str, Json]]:
    """Yield the replaceable texts of items by path."""
    for place, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, Mapping):
            here = f"{path}.{place}"
            yield from ((f"{here}.{name}", item[name]) for name in _names_of(item))
            yield from _texts_of(item.get("children"), f"{here}.children")


def _names_of(item: Mapping[str, Json]) -> list[str]:
    names = ("label",) if item.get("type") == "post" else ("label", "url")
    return [name for name in names if isinstance(item.get(name), str)]


def _record_revisions(rows: Sequence[tuple[Menu, JsonObject]], actor: Actor, reason: str) -> None:
    changes = [
        SharedChange(menu.pk, menu.version, menu_document(menu), menu.version - 1, earlier)
        for menu, earlier in rows
    ]
    record_revisions(MENU, changes, actor=actor, reason=reason)


MENUS: Final = RowSource(
    table="menus",
    what="menu",
    permission="menus.edit",
    rows=Menu.objects.all,
    change_row=_change_menu,
    texts=("name",),
    documents=("items",),
    touched=("version",),
    revisions=RowRevisions(menu_document, _record_revisions),
)
