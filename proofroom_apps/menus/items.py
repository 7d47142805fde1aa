"""Validation of menus and their items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID, uuid4

from django.utils.translation import gettext

from content.models import Post
from content.store.scopes import hidden_post_ids
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.host_names import has_valid_host
from proofroom.core.validation.input_validation import (
    NOT_ON_A_LINE,
    character_at,
    reject_unstorable,
)
from proofroom.core.validation.limits import LABEL_MAX, URL_MAX
from proofroom.definitions.richtext.links import safe_href

MAX_MENU_DEPTH: Final = 5
MAX_MENU_ITEMS: Final = 500
ITEM_TYPES: Final = ("custom", "post")
_KEYS: Final = frozenset({"id", "label", "type", "url", "postId", "children"})
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def clean_items(
    value: object, kept: frozenset[str] = frozenset(), actor: Actor | None = None
) -> list[Json]:
    """Return the items as they are stored. Raises `RuleViolation` keyed by path, such as `items.0.children.1.url`.

    `kept` are ids of posts that the menu already names: a deleted post must not block other changes. With an `actor`,
    posts hidden from the actor count as missing.
    """
    reject_unstorable(value, "items")
    seen: set[str] = set()
    items = _clean_level(value, "items", 1, seen)
    wanted = list(_post_items(items, "items"))
    if not wanted:
        return items
    # One query checks that the posts exist and reads their addresses.
    ids = {str(item["postId"]) for _, item in wanted}
    rows = Post.objects.alive().filter(pk__in=ids).values_list("pk", "path")
    paths = {str(pk): path for pk, path in rows}
    hidden = set(map(str, hidden_post_ids(ids - kept, actor))) if actor is not None else set[str]()
    for path, item in wanted:
        id_ = str(item["postId"])
        if (id_ not in paths and id_ not in kept) or id_ in hidden:
            raise _no_post(path, id_)
        item["url"] = paths.get(id_, "")
    return items


def _clean_level(value: object, path: str, depth: int, seen: set[str]) -> list[Json]:
    if not isinstance(value, list):
        raise invalid(path, gettext("%(path)s must be a list of items.") % {"path": path})
    # Items of the deepest level have an empty list of children.
    if value and depth > MAX_MENU_DEPTH:
        raise invalid(
            path,
            gettext("A menu can be at most %(deepest)s levels deep.") % {"deepest": MAX_MENU_DEPTH},
        )
    cleaned_items: list[Json] = []
    for number, item in enumerate(value):
        here = f"{path}.{number}"
        if not isinstance(item, Mapping):
            raise invalid(here, gettext("%(path)s must be an object.") % {"path": here})
        for name in item:
            if name not in _KEYS:
                known = ", ".join(sorted(_KEYS))
                raise invalid(
                    f"{here}.{name}"[:200],
                    gettext("Items have no key %(name)r; %(known)s.")
                    % {"name": name[:80], "known": known},
                )
        id_ = _id_of(item.get("id"), here, seen)
        type_ = item.get("type", "custom")
        if type_ not in ITEM_TYPES:
            raise invalid(
                f"{here}.type",
                gettext("type must be one of: %(item_types)s.")
                % {"item_types": ", ".join(ITEM_TYPES)},
            )
        text = item.get("label", "")
        if not isinstance(text, str):
            raise invalid(f"{here}.label", gettext("label must be text."))
        label = text.strip()
        if type_ == "custom" and not label:
            raise invalid(f"{here}.label", gettext("label must not be empty."))
        if found := NOT_ON_A_LINE.search(label):
            raise invalid(
                f"{here}.label",
                gettext(
                    "Control characters and line breaks are not allowed here (U+%(ord)s at "
                    "position %(start)s)."
                )
                # The position is in the text as sent, before strip().
                % character_at(found, text.index(label)),
            )
        if len(label) > LABEL_MAX:
            raise invalid(
                f"{here}.label",
                gettext("label must be at most %(label_max)s characters.")
                % {"label_max": LABEL_MAX},
            )
        cleaned: JsonObject = {
            "id": id_,
            "label": label,
            "type": str(type_),
            "url": "",
        }
        if type_ == "post":
            try:
                cleaned["postId"] = str(UUID(item.get("postId")))
            # UUID() raises TypeError for None, and AttributeError for a number.
            except (ValueError, TypeError, AttributeError):
                raise _no_post(here, item.get("postId")) from None
        else:
            cleaned["url"] = _url_of(item.get("url", ""), here)
        cleaned["children"] = _clean_level(
            item.get("children", []), f"{here}.children", depth + 1, seen
        )
        cleaned_items.append(cleaned)
    return cleaned_items


def _id_of(value: object, path: str, seen: set[str]) -> str:
    id_ = str(uuid4()) if value is None else value
    if not isinstance(id_, str) or not _ID.match(id_):
        raise invalid(
            f"{path}.id",
            gettext("An ID may contain letters, digits, - and _. Leave it out to generate one."),
        )
    if id_ in seen:
        raise invalid(
            f"{path}.id", gettext("Another item of the menu has the ID %(id)r.") % {"id": id_}
        )
    seen.add(id_)
    # `seen` has the ids of all levels, so it counts the whole tree.
    if len(seen) > MAX_MENU_ITEMS:
        raise invalid(
            "items",
            gettext("A menu can have at most %(most_items)s items.")
            % {"most_items": MAX_MENU_ITEMS},
        )
    return id_


def _url_of(value: object, path: str) -> str:
    """Return the address of a custom item; empty for a heading above other items."""
    if value == "":
        return ""
    address = safe_href(value)
    if address is None or not has_valid_host(address) or len(address) > URL_MAX:
        raise invalid(
            f"{path}.url",
            gettext(
                "url must be a path or an http(s), mailto or tel address of at "
                "most %(item_url_max)s characters."
            )
            % {"item_url_max": f"{URL_MAX:,}"},
        )
    return address


def _no_post(path: str, value: object) -> RuleViolation:
    return invalid(
        f"{path}.postId", gettext("No post has the ID %(value)r.") % {"value": str(value)[:80]}
    )


def _post_items(items: list[Json], path: str) -> Iterator[tuple[str, JsonObject]]:
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        here = f"{path}.{place}"
        if item["type"] == "post":
            yield here, item
        children = item["children"]
        if isinstance(children, list):
            yield from _post_items(children, f"{here}.children")


def slug_taken(slug: str, locale: str) -> RuleViolation:
    return invalid(
        "slug",
        gettext("There is already a menu %(slug)r in %(language)s.")
        % {"slug": slug, "language": language_name(locale)},
        code="slug_taken",
    )
