"""The links around a page: menus, breadcrumb, other languages. All from what was read in one query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict
from uuid import UUID

from django.conf import settings
from django.utils.translation import get_language_info

from content.posts.linked_posts import LinkedPostsRequest, Neighbour, load_linked_posts
from content.rules.menus import MAX_MENU_DEPTH
from proofroom.core.json import Json
from proofroom.core.site_urls import home_of
from proofroom.definitions.richtext.links import safe_href

MenuItems = Sequence[Mapping[str, Json]]


class Crumb(TypedDict):
    label: str
    url: str


class MenuLink(TypedDict):
    id: str
    type: str
    label: str
    url: str
    current: bool
    children: list[MenuLink]


class Alternate(TypedDict):
    locale: str
    label: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class PageLocation:
    """The path and the language of a page."""

    path: str
    locale: str


def paths_above(place: PageLocation) -> list[str]:
    """The paths of what may stand above a page, from the home page down."""
    home = home_of(place.locale)
    parts = place.path.removeprefix(home).strip("/").split("/")
    return [home] + [home + "/".join(parts[:end]) for end in range(1, len(parts))]


def breadcrumb(
    place: PageLocation, title: str, found: Iterable[Neighbour], listings: Mapping[str, str]
) -> list[Crumb]:
    """From the home page to the page. What is not published is left out, title and all.

    `listings` are the labels of index pages by path, which no post stands for.
    """
    titles = dict(listings)
    titles |= {
        post.path: post.title
        for post in found
        if post.is_published and post.locale == place.locale and post.path
    }
    above = [path for path in paths_above(place) if path in titles and path != place.path]
    crumbs = [Crumb(label=titles[path], url=path) for path in above]
    return [*crumbs, Crumb(label=title, url=place.path)]


def alternates(place: PageLocation, paths: Mapping[str, str]) -> list[Alternate]:
    """The page in every language it is published in, in the order of the settings. `paths` are by locale."""
    return [
        Alternate(
            locale=locale,
            label=_name_of(locale),
            url=paths[locale],
            current=locale == place.locale,
        )
        for locale in settings.CMS_ENV.locales
        if locale in paths
    ]


def _name_of(locale: str) -> str:
    try:
        return str(get_language_info(locale)["name_local"]).capitalize()
    except KeyError:
        return locale


def is_right_to_left(locale: str) -> bool:
    try:
        return bool(get_language_info(locale)["bidi"])
    except KeyError:
        return False


def menu_post_ids(items: MenuItems) -> set[UUID]:
    """The ids of the posts that a menu names."""
    found: set[UUID] = set()
    for item in _walk(items):
        try:
            found.add(UUID(str(item.get("postId") or "")))
        except ValueError:
            continue
    return found


def _walk(items: MenuItems, depth: int = 0) -> Iterator[Mapping[str, object]]:
    for item in items if depth < MAX_MENU_DEPTH else ():
        yield item
        yield from _walk(_children(item), depth + 1)


def _children(item: Mapping[str, object]) -> MenuItems:
    children = item.get("children")
    return children if isinstance(children, list) else ()


def menu_links(items: MenuItems, place: PageLocation, found: Sequence[Neighbour]) -> list[MenuLink]:
    """A menu as a page shows it: an item for a post follows its path and its translation.

    Such an item is left out where the post can be seen in neither language, unless it holds others.
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
        # Checked when it was written; what was stored otherwise is no less dangerous.
        label, url = str(item.get("label") or ""), safe_href(item.get("url")) or ""
        is_post = item.get("type") == "post"
        if is_post:
            target = _target(posts.get(str(item.get("postId")).lower()), place.locale, found)
            if target is None and not children:
                continue
            # The stored address is as old as the menu; a post that is gone has none.
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
    """The post in the language of the page, else the post itself; published or nothing."""
    if post is None:
        return None
    for other in found:
        if other.group == post.group and other.locale == locale and other.is_published:
            return other
    return post if post.is_published else None


def visible_links(items: MenuItems, locale: str) -> list[MenuLink]:
    """Return what visitors see of a menu in a language. One query, none where it names no post."""
    ids = menu_post_ids(items)
    found = load_linked_posts(LinkedPostsRequest(locale, post_ids=list(ids)))
    return menu_links(items, PageLocation("", locale), found.neighbours)
