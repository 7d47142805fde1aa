"""The links of a menu for a page, built from data that was already loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

from content.document.contents import inside_path
from content.models import Post
from content.store.linked_posts import LinkedPostsRequest, Neighbour, load_linked_posts
from proofroom.core.json import Json, JsonObject
from proofroom.core.site_urls import PageLocation
from proofroom.core.validation.input_validation import parse_uuids
from proofroom.definitions.richtext.links import safe_href
from proofroom_apps.menus.items import MAX_MENU_DEPTH
from proofroom_apps.menus.models import Menu

MenuItems = Sequence[Mapping[str, Json]]


class MenuLink(TypedDict):
    id: str
    type: str
    label: str
    url: str
    current: bool
    children: list[MenuLink]


def menu_post_ids(items: MenuItems) -> set[UUID]:
    """Return the ids of the posts that a menu names."""
    return set(parse_uuids(item.get("postId") for item in _walk(items)))


def posts_in_menus(ids: Collection[UUID]) -> set[UUID]:
    """Return the posts of `ids` that an item of a menu leads to, by its post or its address.

    An item of a post leads to the post's translations too. Three queries.
    """
    items = [item for menu in Menu.objects.all() for item in _walk(menu.items)]
    paths = {inside_path(url) for item in items if isinstance(url := item.get("url"), str)}
    named = set(parse_uuids(item.get("postId") for item in items if item.get("type") == "post"))
    groups = set(Post.objects.filter(pk__in=named).values_list("translation_group", flat=True))
    rows = Post.objects.filter(pk__in=ids).values_list("pk", "path", "translation_group")
    return {pk for pk, path, group in rows if group in groups or (path and path in paths)}


def portable_items(items: Sequence[Json]) -> list[Json]:
    """Return the items without the addresses of posts, which follow from the posts.

    A deleted post's item becomes a heading if it has a label; otherwise it is removed with its children. One query.
    """
    named = menu_post_ids([item for item in items if isinstance(item, dict)])
    there = Post.objects.alive().filter(pk__in=named).values_list("pk", flat=True)
    return _portable(items, {str(id_) for id_ in there})


def _portable(items: Sequence[Json], there: Collection[str]) -> list[Json]:
    found: list[Json] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        kept: JsonObject = {**item, "children": _portable(_children(item), there)}
        if item["type"] == "post":
            kept["url"] = ""
            if item["postId"] not in there:
                del kept["postId"]
                kept["type"] = "custom"
                if not item["label"]:
                    continue
        found.append(kept)
    return found


def _walk(items: MenuItems, depth: int = 0) -> Iterator[Mapping[str, object]]:
    # The tree may be unvalidated, so its depth is limited here too.
    for item in items if depth < MAX_MENU_DEPTH else ():
        yield item
        yield from _walk(_children(item), depth + 1)


def _children(item: Mapping[str, object]) -> Sequence[Any]:
    children = item.get("children")
    return children if isinstance(children, list) else []


def menu_links(items: MenuItems, place: PageLocation, found: Sequence[Neighbour]) -> list[MenuLink]:
    """Return a menu's links for a page. A post's item uses the path and the translation of the post.

    An item whose post is not published in either language is left out, unless it has children.
    """
    return _links(items, place, {post.id: post for post in found}, found, 0)


def _links(
    items: MenuItems,
    place: PageLocation,
    posts: Mapping[str, Neighbour],
    found: Sequence[Neighbour],
    depth: int,
) -> list[MenuLink]:
    links: list[MenuLink] = []
    for item in items if depth < MAX_MENU_DEPTH else ():
        children = _links(_children(item), place, posts, found, depth + 1)
        # Check again although writes are validated: rows stored another way may be unsafe.
        label, url = str(item.get("label") or ""), safe_href(item.get("url")) or ""
        is_post = item.get("type") == "post"
        if is_post:
            target = _target(posts.get(str(item.get("postId")).lower()), place.locale, found)
            if target is None and not children:
                continue
            # The stored address may be outdated. A deleted post has no address.
            url = target.path if target else ""
            label = label or (target.title if target else "")
        if label:
            links.append(
                MenuLink(
                    id=str(item.get("id") or ""),
                    type="post" if is_post else "custom",
                    label=label,
                    url=url,
                    current=url == place.path,
                    children=children,
                )
            )
    return links


def _target(post: Neighbour | None, locale: str, found: Sequence[Neighbour]) -> Neighbour | None:
    """Return the published translation of the post in the page's language, else the published post, else None."""
    if post is None:
        return None
    for other in found:
        if other.group == post.group and other.locale == locale and other.is_published:
            return other
    return post if post.is_published else None


def visible_links(items: MenuItems, locale: str) -> list[MenuLink]:
    """Return the links that visitors see in a language. One query, none if the menu names no post."""
    ids = menu_post_ids(items)
    found = load_linked_posts(LinkedPostsRequest(locale, post_ids=list(ids)))
    return menu_links(items, PageLocation("", locale), found.neighbours)
