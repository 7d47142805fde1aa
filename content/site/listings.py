"""The pages that list the posts of a type, newest first: `PostType.index_path` says where."""

from __future__ import annotations

from typing import Final

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext

from content.definitions import post_types
from content.models import Post
from content.site import queries
from content.site.addresses import home_of
from content.site.links import (
    Place,
    alternates,
    breadcrumb,
)
from content.site.seo import seo_of_list
from content.site.surroundings import context_of, surroundings_of
from media.presenters import SiteImage, site_image

PER_PAGE: Final = 12


def list_path(type: str, locale: str) -> str:
    """The path of the page that lists a type; empty where the type has none."""
    definition = post_types.get(type)
    index = definition.index_path if definition else ""
    return f"{home_of(locale)}{index}" if index else ""


def listed_at(path: str, locale: str) -> str | None:
    """The post type whose index page has that path."""
    return next((type.name for type in post_types if list_path(type.name, locale) == path), None)


def listings(locale: str) -> dict[str, str]:
    """The titles of the index pages by path, in the language that is active."""
    paths = {list_path(type.name, locale): type.name for type in post_types if type.index_path}
    return {path: list_title(type) for path, type in paths.items()}


def list_title(type: str) -> str:
    """What the page that lists a type is called, in the language that is active."""
    definition = post_types.get(type)
    label = definition.list_label or definition.label_plural if definition else type
    return gettext(label)


def list_page(type: str, locale: str, number: int) -> str | None:
    """A page of the posts of a type, 1 being the newest; None past the last. Four queries."""
    place = Place(list_path(type, locale), locale)
    counts = queries.counts(type)
    last = max(1, -(-counts.get(locale, 0) // PER_PAGE))
    if not 1 <= number <= last:
        return None
    begin = (number - 1) * PER_PAGE
    posts = queries.listed(type, locale)[begin : begin + PER_PAGE]
    around = surroundings_of(place)
    with translation.override(locale):
        title = list_title(type)
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
        context = context_of(around, crumbs, seo=seo, alternates=languages) | {
            "page_title": title,
            "posts": [_card(post) for post in posts],
            "pages": _pages(place.path, number, last),
        }
        return render_to_string("site/list.html", context)


def featured_image(post: Post) -> SiteImage | None:
    return site_image(post.featured_media) if post.featured_media else None


def _card(post: Post) -> dict[str, object]:
    return {
        "title": post.title,
        "url": post.path,
        "excerpt": post.excerpt,
        "published_at": post.published_at,
        "image": featured_image(post),
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
