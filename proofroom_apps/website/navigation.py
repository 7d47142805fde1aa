"""Links around a page other than menus: breadcrumb and other languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from django.conf import settings
from django.utils.translation import get_language_info

from content.store.linked_posts import Neighbour
from proofroom.core.site_urls import PageLocation, paths_above
from proofroom.definitions.listings import list_title_at


class Crumb(TypedDict):
    label: str
    url: str


class Alternate(TypedDict):
    locale: str
    label: str
    url: str
    current: bool


def breadcrumb(place: PageLocation, title: str, found: Iterable[Neighbour]) -> list[Crumb]:
    """Return the links from the home page to the page, without unpublished ones.

    Index pages without a post have a label in the active language.
    """
    titles = {
        post.path: post.title
        for post in found
        if post.is_published and post.locale == place.locale and post.path
    }
    crumbs = []
    for path in paths_above(place):
        is_post = path in titles
        label = titles[path] if is_post else list_title_at(path, place.locale)
        if path != place.path and (is_post or label):
            crumbs.append(Crumb(label=label, url=path))
    return [*crumbs, Crumb(label=title, url=place.path)]


def alternates(place: PageLocation, paths: Mapping[str, str]) -> list[Alternate]:
    """Return the page in every language in which it is published, in the order of the settings.

    `paths` are by locale.
    """
    return [
        Alternate(
            locale=locale,
            label=language_label(locale),
            url=paths[locale],
            current=locale == place.locale,
        )
        for locale in settings.CMS_ENV.locales
        if locale in paths
    ]


def language_label(locale: str) -> str:
    """Return the name of a language in the language itself."""
    try:
        # Raises KeyError for a language that Django does not know.
        return str(get_language_info(locale)["name_local"]).capitalize()
    except KeyError:
        return locale


def is_right_to_left(locale: str) -> bool:
    try:
        return bool(get_language_info(locale)["bidi"])
    except KeyError:
        return False
