"""Pages of the site as nearly all visitors ask for them, made before Django sees the request.

The view answers all else: whoever is signed in, addresses where no page stands, pages that differ by visitor.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from django.conf import settings
from django.http import QueryDict
from django.urls import Resolver404, resolve

from proofroom.core.caching.answer_cache import LONGEST_KEY
from proofroom.core.caching.front_readers import ReadAnswer
from proofroom.core.site_urls import PAGE_ROUTE, locale_of, search_path

if TYPE_CHECKING:
    from proofroom.core.caching.front_cache import FrontRequest

_PARAMETERS: Final = ("sent", "page", "variation", "%", "+")
"""A query without any of these has nothing that pages look at."""
_MAX_PLAIN_QUERY: Final = 2_000
_NONE: Final[Mapping[str, str]] = {}


class PageReader:
    """Answers with pages, lists, feeds and `llms.txt`."""

    scope = ""
    route = PAGE_ROUTE

    def takes(self, path: str) -> bool:
        return len(path) <= LONGEST_KEY and _is_page(path, settings.ROOT_URLCONF)

    def read(self, asked: FrontRequest) -> ReadAnswer | None:
        # Only who serves the site loads them.
        from proofroom_apps.website.http_cache import RequestedPage, SiteAnswer
        from proofroom_apps.website.page_answers import find_answer
        from proofroom_apps.website.views import LOOKED_UP

        query = str(asked.meta.get("QUERY_STRING", ""))
        begun = RequestedPage(
            path=asked.path,
            full_path=asked.path,
            query=query,
            accept=str(asked.meta.get("HTTP_ACCEPT", "")),
            is_visitor=True,
            parameters=_parameters(query),
        )
        found = find_answer(begun)
        if not isinstance(found, SiteAnswer):
            cast("dict[str, object]", asked.meta)[LOOKED_UP] = begun.posts
            return None
        return ReadAnswer(found.state, found.answer, found.form.kind, found.is_for_all)


class SearchReader:
    """Answers with what a visitor searches for."""

    scope = "public"
    route = PAGE_ROUTE

    def takes(self, path: str) -> bool:
        return path == search_path(locale_of(path)) and _is_of_pages(path, settings.ROOT_URLCONF)

    def read(self, asked: FrontRequest) -> ReadAnswer | None:
        # Only who serves the site loads them.
        from proofroom_apps.website.http_cache import RequestedPage
        from proofroom_apps.website.page_answers import search_answer

        query = str(asked.meta.get("QUERY_STRING", ""))
        begun = RequestedPage(
            path=asked.path,
            full_path=asked.path,
            query=query,
            accept="",
            is_visitor=True,
            parameters=_parsed(query),
        )
        found = search_answer(begun, locale_of(asked.path))
        if found is None:
            return None
        return ReadAnswer(
            found.state, found.answer, found.form.kind, found.is_for_all, shows_limit=False
        )


@lru_cache(maxsize=10_000)
def _is_page(path: str, urls: str) -> bool:
    """Whether the view of pages answers a path, and no other address of the site has it. It searches by itself."""
    return path != search_path(locale_of(path)) and _is_of_pages(path, urls)


@lru_cache(maxsize=100)
def _is_of_pages(path: str, urls: str) -> bool:
    from proofroom_apps.website.views import page

    try:
        return resolve(path, urls).func is page
    except Resolver404:
        return False


def _parameters(query: str) -> Mapping[str, str]:
    if len(query) <= _MAX_PLAIN_QUERY and not any(name in query for name in _PARAMETERS):
        return _NONE
    return _parsed(query)


def _parsed(query: str) -> Mapping[str, str]:
    return cast("Mapping[str, str]", QueryDict(query.encode("latin-1"), encoding="utf-8"))
