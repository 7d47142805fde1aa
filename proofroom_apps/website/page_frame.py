"""The frame of every page of the site: menus, languages, site name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, TypedDict, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.template.base import Template
from django.template.loader import get_template
from django.utils import timezone, translation
from django.utils.translation import to_locale

from content.store.linked_posts import Linked, LinkedPostsRequest, Neighbour, load_linked_posts
from proofroom.core.caching.cache_tags import add_cache_tags, menu_tag
from proofroom.core.caching.content_memo import content_key
from proofroom.core.caching.content_tags import (
    collect_tags,
    depend_on,
    tag_of_group,
    tag_of_list,
    tag_of_path,
    tag_of_post,
)
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.database.trial_writes import in_trial
from proofroom.core.site_urls import PageLocation, home_path, paths_above, search_path
from proofroom.definitions import PostList, post_types
from proofroom.definitions.listings import feed_path, list_path, list_title
from proofroom_apps.menus.links import MenuItems, MenuLink, menu_links, menu_post_ids
from proofroom_apps.menus.places import MENU_PLACES
from proofroom_apps.website import navigation, queries
from proofroom_apps.website.navigation import Alternate, Crumb, is_right_to_left

_OWN = Path(__file__).parent / "locale"


@contextmanager
def use_template_language(locale: str) -> Iterator[None]:
    """Activate the locale for templates, or English if their words are not translated.

    Otherwise single words would come from catalogues of other pages. Times are in the site's zone, also if an admin
    page shows a page to a user in another zone.
    """
    with translation.override(_language_of(locale)), timezone.override(None):
        yield


def site_catalogue_folders() -> list[Path]:
    """Return the catalogue folders of the apps listed before the product's apps: they translate the site's pages."""
    configs = takewhile(lambda app: app.label != "product_files", apps.get_app_configs())
    return [Path(app.path) / "locale" for app in configs]


@cache
def _language_of(locale: str) -> str:
    folders = [*map(Path, settings.LOCALE_PATHS), *site_catalogue_folders(), _OWN]
    names = (to_locale(locale), locale.partition("-")[0])
    is_translated = any(
        (folder / name / "LC_MESSAGES" / "django.mo").is_file()
        for folder in folders
        for name in names
    )
    return locale if is_translated else "en"


MenuLinks = dict[str, list[MenuLink]]
"""The links of each menu, by its slug."""


@dataclass(frozen=True, slots=True)
class SiteFrame:
    """The frame of all pages in a language: the menus, and the posts of menus and home pages.

    `content` identifies this data: it is equal only if the data is.
    """

    state: LiveState
    menus: dict[str, MenuItems]
    neighbours: Sequence[Neighbour]
    links: MenuLinks
    tags: frozenset[str]
    content: str
    feeds: dict[str, list[FeedLink]] = field(default_factory=dict)
    """Feed links of pages with this frame, by post type."""


_NO_PATH: Final = "\x00"
"""A path that no page and no menu link has."""
frames: Final[dict[str, SiteFrame]] = {}
"""The last frame of each locale, valid until live content changes."""


def load_frame(locale: str, state: LiveState) -> SiteFrame:
    """Return the frame in a language. Two queries, none if it is cached for that content state."""
    kept = None if in_trial() else frames.get(locale)
    if kept is not None and kept.state == state:
        depend_on(*kept.tags)
        return kept
    place = PageLocation(home_path(locale), locale)
    with collect_tags() as tags:
        around = load_surroundings(place)
    depend_on(*tags)
    elsewhere = PageLocation(_NO_PATH, locale)
    links = {
        slug: menu_links(items, elsewhere, around.neighbours)
        for slug, items in around.menus.items()
    }
    content = content_key([around.menus, around.neighbours])
    frame = SiteFrame(state, around.menus, around.neighbours, links, frozenset(tags), content)
    if not in_trial():
        frames[locale] = frame
    return frame


@dataclass(frozen=True)
class PageChrome:
    """Data of every page besides its content. `neighbours` are the posts that it may link to.

    `frame` is the site's frame with its menus, if it was known.
    """

    place: PageLocation
    menus: dict[str, MenuItems]
    linked: Linked
    neighbours: Sequence[Neighbour]
    frame: SiteFrame | None = None

    @cached_property
    def homes(self) -> dict[str, str]:
        """The paths of the published home pages, by locale."""
        homes = {home_path(locale): locale for locale in settings.CMS_ENV.locales}
        return {
            post.locale: post.path
            for post in self.neighbours
            if post.is_published and homes.get(post.path) == post.locale
        }

    @cached_property
    def site_name(self) -> str:
        """Title of the home page in the page's language, else in the default one, else the host."""
        default = settings.CMS_ENV.default_locale
        for locale in (self.place.locale, default):
            home = home_path(locale)
            for post in self.neighbours:
                if post.path == home and post.is_published:
                    return post.title
        return urlsplit(settings.SITE_URL).hostname or ""


def load_surroundings(
    place: PageLocation,
    *,
    state: LiveState | None = None,
    group: UUID | None = None,
    near: Sequence[Neighbour] | None = None,
    menus: Mapping[str, MenuItems] | None = None,
    post_ids: Iterable[UUID] = (),
    lists: Sequence[PostList] = (),
) -> PageChrome:
    """Return the surroundings. Two queries: the menus, and all posts that they and the page link to or list.

    With the content `state` of the page, menus and home pages are usually cached. `near` are the posts above the page
    and its translations, if they were loaded with it: with both, only `post_ids` and `lists` need a query. `menus`
    replace stored ones of their slugs, if no state is given.
    """
    ids = {*post_ids}
    paths = set(paths_above(place)) if near is None else set()
    known: Sequence[Neighbour] = near or ()
    frame = None
    if state is not None:
        frame = load_frame(place.locale, state)
        shown, known = frame.menus, [*frame.neighbours, *known]
        paths.discard(home_path(place.locale))
    else:
        shown = queries.load_menus(place.locale, settings.CMS_ENV.default_locale)
        shown |= menus or {}
        ids |= {id_ for items in shown.values() for id_ in menu_post_ids(items)}
        paths |= set(map(home_path, settings.CMS_ENV.locales))
    asked = LinkedPostsRequest(
        locale=place.locale,
        # Sort the paths, so that equal pages send equal queries.
        paths=sorted(paths),
        group=group if near is None else None,
        post_ids=list(ids),
        lists=lists,
    )
    linked = load_linked_posts(asked)
    posts = {post.id: post for post in (*known, *linked.neighbours)}
    # Pages depend on the menus of their templates even before they exist.
    add_cache_tags(*map(menu_tag, {*shown, *MENU_PLACES}))
    # Depend on missing posts too: creating one must invalidate the page.
    depend_on(
        *map(tag_of_path, {*paths, *paths_above(place)}),
        *map(tag_of_post, ids),
        *(tag_of_list(wanted.type) for wanted in lists),
    )
    if group is not None:
        depend_on(tag_of_group(group))
    for post in (*(near or ()), *linked.neighbours):
        depend_on(tag_of_post(post.id), tag_of_group(post.group))
    return PageChrome(place, shown, linked, list(posts.values()), frame)


def build_menu_links(around: PageChrome) -> MenuLinks:
    """Return the links of the menus, with links to the page itself marked as current."""
    frame, place = around.frame, around.place
    if frame is not None and not any(
        _leads_to(items, place.path) for items in frame.links.values()
    ):
        return frame.links
    return {
        slug: menu_links(items, place, around.neighbours) for slug, items in around.menus.items()
    }


def _leads_to(links: Sequence[MenuLink], path: str) -> bool:
    return any(link["url"] == path or _leads_to(link["children"], path) for link in links)


def page_links(number: int, last: int, url: Callable[[int], str]) -> dict[str, object]:
    """Return the names that `templates/site/pages.html` reads. `url` returns the address of a page number."""
    return {
        "current": number,
        "last": last,
        "previous_url": url(number - 1) if number > 1 else "",
        "next_url": url(number + 1) if number < last else "",
    }


class FeedLink(TypedDict):
    title: str
    url: str


def feeds_of(around: PageChrome, type: str = "") -> list[FeedLink]:
    """Return the feeds of the page's type, and of every list that a menu links to: such lists have posts."""
    frame = around.frame
    if frame is None:
        return _find_feeds(around, type)
    if type not in frame.feeds:
        frame.feeds[type] = _find_feeds(around, type)
    return frame.feeds[type]


def _find_feeds(around: PageChrome, type: str) -> list[FeedLink]:
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


def page_template(template_name: str) -> Template:
    """Return the compiled template of a page. It is a new object after its file changed."""
    template: Template = cast(Any, get_template(template_name)).template
    return template


def build_page_context(
    around: PageChrome,
    crumbs: Sequence[Crumb],
    *,
    alternates: Sequence[Alternate] = (),
) -> dict[str, object]:
    """Return the names that `templates/site/base.html` reads. `alternates` are the page's own languages."""
    place = around.place
    home = home_path(place.locale)
    links = build_menu_links(around)
    # The language switch links to the translation, else to the home page of the language.
    paths = {item["locale"]: item["url"] for item in alternates}
    own = {around.place.locale: around.place.path or home_path(around.place.locale)}
    return {
        # Most pages have none of these. A missing name costs a template more time than an empty one.
        "pages": None,
        "preview": None,
        "is_uncounted": False,
        "submission": None,
        "post_data": "",
        "intro": "",
        "locale": place.locale,
        "text_direction": "rtl" if is_right_to_left(place.locale) else "ltr",
        "site": {
            "name": around.site_name,
            "home_url": home,
            "is_home": place.path == home,
            "search_url": search_path(place.locale),
            "is_search": place.path == search_path(place.locale),
        },
        "menu": links.get("main", []),
        "footer_menu": links.get("footer", []),
        "breadcrumb": crumbs,
        "alternates": alternates,
        "languages": navigation.alternates(around.place, {**around.homes, **own, **paths}),
    }
