"""Public pages as HTML: a post, a list of posts, the page that is not there. Knows no request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext

from content.models import Post, Term
from content.site import queries
from content.site.addresses import home_of
from content.site.links import (
    Alternate,
    Crumb,
    Place,
    alternates,
    breadcrumb,
    is_right_to_left,
    menu_links,
    menu_post_ids,
    paths_above,
)
from content.site.media import images_of
from content.site.queries import MenuItems, Neighbour
from content.site.rendering import RenderableModule, opens_with_heading, render_modules
from content.site.seo import Seo, seo_of_list, seo_of_post
from media.presenters import SiteImage, site_image

LISTED: Final = {"blog": "blog"}
"""The index page of a post type: the last part of its path, by type."""
PER_PAGE: Final = 12


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every page has around its content."""

    place: Place
    menus: dict[str, MenuItems]
    neighbours: Sequence[Neighbour]

    @property
    def site_name(self) -> str:
        """The title of the home page in the page's language, else in the default one, else the host."""
        default = settings.CMS_ENV.default_locale
        for locale in (self.place.locale, default):
            for post in self.neighbours:
                if post.path == home_of(locale) and post.is_published:
                    return post.title
        return urlsplit(settings.SITE_URL).hostname or ""


def list_path(type: str, locale: str) -> str:
    return f"{home_of(locale)}{LISTED[type]}"


def listed_at(path: str, locale: str) -> str | None:
    """The post type whose index page has that path."""
    return next((type for type in LISTED if list_path(type, locale) == path), None)


@dataclass(frozen=True, slots=True)
class PageContent:
    """What the page of a post shows: live, or as a layer has it. `preview` names the layer then."""

    post: Post
    modules: Sequence[RenderableModule]
    terms: Sequence[Term]
    preview: str = ""


def post_page(post: Post) -> str:
    """The page of a post. At most five queries."""
    terms = queries.terms_of(post) if post.type in LISTED else []
    return page_of(PageContent(post, queries.modules_of(post), terms))


def page_of(content: PageContent) -> str:
    """The page of a post with its surroundings."""
    post, items = content.post, content.modules
    place = Place(post.path, post.locale)
    images = images_of(post, items)
    around = _surroundings(place, group=post.translation_group)
    with translation.override(post.locale):
        crumbs = breadcrumb(place, post.title, around.neighbours, _listings(post.locale))
        languages = alternates(place, _translations(post, around.neighbours))
        html = render_modules(
            items, {"media": images, "page_title": post.title, "locale": post.locale}
        )
        context = _context(around, crumbs, alternates=languages) | {
            "seo": _seo(content, around, crumbs, languages),
            "page_title": post.title,
            "post": post,
            "terms": content.terms if post.type in LISTED else [],
            "media": images,
            "content": html,
            "has_heading": opens_with_heading(items),
            "preview": {"label": content.preview} if content.preview else None,
        }
        return render_to_string("site/post.html", context)


def _seo(
    content: PageContent,
    around: Surroundings,
    crumbs: Sequence[Crumb],
    languages: Sequence[Alternate],
) -> Seo:
    featured = _featured(content.post)
    seo = seo_of_post(
        content.post,
        site_name=around.site_name,
        crumbs=crumbs,
        alternates=languages,
        image=featured["url"] if featured else "",
    )
    if content.preview:
        seo["robots"] = "noindex, nofollow"
    return seo


def list_page(type: str, locale: str, number: int) -> str | None:
    """A page of the posts of a type, 1 being the newest; None past the last. Four queries."""
    place = Place(list_path(type, locale), locale)
    counts = queries.counts(type)
    last = max(1, -(-counts.get(locale, 0) // PER_PAGE))
    if not 1 <= number <= last:
        return None
    begin = (number - 1) * PER_PAGE
    posts = queries.listed(type, locale)[begin : begin + PER_PAGE]
    around = _surroundings(place)
    with translation.override(locale):
        title = gettext("Blog")
        crumbs = breadcrumb(place, title, around.neighbours, {})
        others = {other: list_path(type, other) for other in counts if other != locale}
        languages = alternates(place, {locale: place.path, **others})
        seo = seo_of_list(
            title,
            place.path,
            site_name=around.site_name,
            crumbs=crumbs,
            alternates=languages,
            number=number,
        )
        context = _context(around, crumbs, seo=seo, alternates=languages) | {
            "page_title": title,
            "posts": [_card(post) for post in posts],
            "pages": _pages(place.path, number, last),
        }
        return render_to_string("site/list.html", context)


def missing_page(locale: str) -> str:
    """What stands at an address without a page. Two queries."""
    around = _surroundings(Place("", locale))
    with translation.override(locale):
        return render_to_string("site/404.html", _context(around, []))


def _surroundings(place: Place, group: Any = None) -> Surroundings:
    default = settings.CMS_ENV.default_locale
    menus = queries.menus(place.locale, default)
    ids = {id_ for items in menus.values() for id_ in menu_post_ids(items)}
    paths = {*paths_above(place), home_of(default)}
    found = queries.neighbours(paths=paths, group=group, post_ids=ids)
    return Surroundings(place, menus, found)


def _context(around: Surroundings, crumbs: Sequence[Crumb], **more: object) -> dict[str, object]:
    place = around.place
    home = home_of(place.locale)
    links = {
        slug: menu_links(items, place, around.neighbours) for slug, items in around.menus.items()
    }
    return {
        "locale": place.locale,
        "text_direction": "rtl" if is_right_to_left(place.locale) else "ltr",
        "site": {
            "name": around.site_name,
            "home_url": home,
            "is_home": place.path == home,
        },
        "menu": links.get("main", []),
        "footer_menu": links.get("footer", []),
        "breadcrumb": crumbs,
        **more,
    }


def _listings(locale: str) -> dict[str, str]:
    return {list_path("blog", locale): gettext("Blog")}


def _translations(post: Post, found: Sequence[Neighbour]) -> dict[str, str]:
    paths = {
        other.locale: other.path
        for other in found
        if other.group == post.translation_group and other.is_published
    }
    return {**paths, post.locale: post.path}


def _featured(post: Post) -> SiteImage | None:
    return site_image(post.featured_media) if post.featured_media else None


def _card(post: Post) -> dict[str, object]:
    return {
        "title": post.title,
        "url": post.path,
        "excerpt": post.excerpt,
        "published_at": post.published_at,
        "image": _featured(post),
    }


def _pages(path: str, number: int, last: int) -> dict[str, object]:
    def url(other: int) -> str:
        if not 1 <= other <= last:
            return ""
        return path if other == 1 else f"{path}?page={other}"

    return {
        "current": number,
        "last": last,
        "previous_url": url(number - 1),
        "next_url": url(number + 1),
    }
