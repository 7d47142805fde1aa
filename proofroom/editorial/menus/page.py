"""The page of a menu: its tree, what may be added to it, and how the site shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from django.http import QueryDict
from django.utils.translation import gettext as _

from content.menus.links import menu_post_ids, shown_links
from content.models import Menu, Post, Status
from content.rules.menus import DEEPEST, MOST_ITEMS
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n.form_errors import with_label
from proofroom.core.validation.input_validation import refuse_unstorable
from proofroom.editorial.menus.item_rows import (
    WAYS,
    MenuNode,
    MenuRow,
    by_path,
    items_of,
    moved,
    nodes_of,
    rows_of,
    rows_sent,
)
from proofroom.editorial.menus.link_targets import row_for, targets


def items_sent(data: QueryDict) -> object:
    """The items that a form sent: as JSON where a script did, else row by row. Raises `ValueError`."""
    if "items" in data:
        return _json(str(data["items"]))
    return items_of(rows_sent(data, data.getlist("row")))


def _json(text: str) -> object:
    try:
        found: object = json.loads(text)
        refuse_unstorable(found, "items")
    except RecursionError:
        raise ValueError(_("This is nested too deep.")) from None
    except RuleViolation as error:
        raise ValueError(error.message) from None
    return found


def acted(data: QueryDict, locale: str) -> tuple[list[MenuRow], str]:
    """The rows after the button that was pressed, and what to say about it. Raises `ValueError`."""
    rows = list(rows_of(items_sent(data)))
    do, _colon, key = data.get("do", "").partition(":")
    if do in WAYS:
        name = next((row.label or row.url for row in rows if row.id == key), "")
        said = _("Removed: %(name)s") % {"name": name} if do == "remove" else ""
        return moved(rows, key, do), said
    new = _new_row(do, key, data, locale)
    if new is None or len(rows) >= MOST_ITEMS:
        return rows, ""
    said = _("Added at the end: %(name)s") % {"name": new.label or new.url}
    return [*rows, new], said


def _new_row(do: str, key: str, data: QueryDict, locale: str) -> MenuRow | None:
    if do == "add":
        return row_for(key, locale)
    if do == "add-custom":
        label, url = data.get("new-label", "").strip(), data.get("new-url", "").strip()
        return MenuRow(str(uuid4()), 0, label=label, url=url)
    return None


def tree_context(
    menu: Menu, rows: Sequence[MenuRow], *, words: str, errors: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """What the page shows of the rows. Five queries, however many they are."""
    nodes = nodes_of(rows)
    _name(nodes, menu.locale)
    for path, node in by_path(nodes):
        node.errors = [
            text
            for key, texts in errors.items()
            if _is_of(key, path)
            for text in with_label(_label_of(key), key, texts)
        ]
    return {
        "nodes": nodes,
        "number": len(rows),
        "deepest": DEEPEST,
        "words": words,
        "targets": targets(words, menu.locale),
        "links": shown_links(items_of(rows), menu.locale),  # type: ignore[arg-type]  # rows make objects
        "siblings": Menu.objects.filter(slug=menu.slug).exclude(pk=menu.pk).order_by("locale"),
    }


def _label_of(key: str) -> str:
    """What the page calls the part of an item that a refusal is about."""
    return {"label": _("Label"), "url": _("Address")}.get(key.rpartition(".")[2], "")


def _is_of(key: str, path: str) -> bool:
    """Whether a refusal is about this very item, not about one below it."""
    rest = key.removeprefix(path)
    return rest != key and (not rest or (rest[0] == "." and not rest.startswith(".children.")))


def _name(nodes: Sequence[MenuNode], locale: str) -> None:
    """Give the nodes of posts their titles, and say which of them no visitor sees. One query."""
    items: Any = items_of([node.row for _path, node in by_path(nodes)])
    ids = menu_post_ids(items)
    rows = Post.objects.filter(pk__in=ids).only("title", "path", "status", "locale", "deleted_at")
    posts = {str(post.pk): post for post in rows} if ids else {}
    for _path, node in by_path(nodes):
        node.where = node.row.url
        if node.row.type == "post":
            post = posts.get(node.row.post_id.lower())
            node.title = post.title if post else _("A post that is gone")
            node.where = post.path if post else ""
            node.state = _state(post)


def _state(post: Post | None) -> str:
    """Why visitors do not see an item; empty where they do."""
    if post is None or post.deleted_at is not None:
        return _("deleted")
    return "" if post.status == Status.PUBLISHED else _("not published")
