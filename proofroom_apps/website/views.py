"""The public site: one view for every address that nothing else answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from proofroom.core.caching.front_cache import reduced_query
from proofroom.core.caching.shared_answers import share_answers
from proofroom.core.database.replica import from_replica
from proofroom.core.observability.middleware import show_staff_timing
from proofroom.core.site_urls import PAGE_PARAMETERS, SEARCH, canonical_form, home_path, locale_of
from proofroom.definitions.listings import listing_at
from proofroom_apps.website import queries
from proofroom_apps.website.http_cache import RequestedPage, rate_limit_response
from proofroom_apps.website.page_answers import OWN_ANSWERS, find_answer, search_answer
from proofroom_apps.website.pages import missing_page, welcome_page
from proofroom_apps.website.queries import FoundPost
from proofroom_apps.website.variation_pages import arm_page


@share_answers
@require_safe
@show_staff_timing
def page(request: HttpRequest, path: str) -> HttpResponseBase:
    """Return the page at an address: 301 from another spelling of it, or 404 with the site's own page.

    Signed-in users read from the primary database: a session missing on a replica would be ended.
    """
    asked = requested_page(request, f"/{path}")
    with from_replica() if asked.is_visitor else nullcontext():
        return answer_page(request, asked)


def requested_page(request: HttpRequest, path: str) -> RequestedPage:
    """Return what a request asks of the page at a path."""
    return RequestedPage(
        path=path,
        full_path=request.path,
        query=reduced_query(request.META.get("QUERY_STRING", ""), PAGE_PARAMETERS),
        accept=request.META.get("HTTP_ACCEPT", ""),
        is_visitor=settings.SESSION_COOKIE_NAME not in request.COOKIES,
        parameters=request.GET,
    )


def answer_page(request: HttpRequest, asked: RequestedPage) -> HttpResponseBase:
    """Return the answer at an address of the site, a 404 with the site's own page if nothing is there."""
    locale = locale_of(asked.path)
    own = _OWN.get(asked.path.removeprefix(home_path(locale)))
    if own is not None:
        return own(request, asked, locale) or _missing(asked, locale)
    found = find_answer(asked)
    if isinstance(found, FoundPost):
        return arm_page(request, asked, found) or _missing(asked, locale)
    if found is not None:
        return found.response()
    # Only after a miss, because the check for a page costs a query.
    return _redirect_to_canonical(request, asked.path) or _missing(asked, locale)


def _search(request: HttpRequest, asked: RequestedPage, locale: str) -> HttpResponseBase | None:
    # Search answers are not cached, so every request costs queries.
    refused = rate_limit_response(request)
    if refused is not None:
        return refused
    found = search_answer(asked, locale)
    return found.response() if found is not None else None


_OWN: Final[dict[str, Callable[[HttpRequest, RequestedPage, str], HttpResponseBase | None]]] = {
    SEARCH: _search
}
"""Handlers of reserved addresses below each locale's home page, whose answers are not cached."""


def _redirect_to_canonical(request: HttpRequest, address: str) -> HttpResponse | None:
    canonical = canonical_form(address)
    if canonical == address:
        return None
    locale = locale_of(canonical)
    bare = canonical.removeprefix(home_path(locale))
    is_own = bare in _OWN or bare in OWN_ANSWERS
    # Redirect only to existing pages: `//host` in the address must not become an open redirect.
    if is_own or listing_at(canonical, locale) or queries.is_published_at(canonical, locale):
        query = request.META.get("QUERY_STRING")
        return HttpResponsePermanentRedirect(f"{canonical}?{query}" if query else canonical)
    return None


def _missing(asked: RequestedPage, locale: str) -> HttpResponse:
    if asked.path == home_path(locale) and queries.is_site_empty():
        return _welcome(asked, locale)
    response = HttpResponse(missing_page(locale), status=404)
    # An editor who publishes the page and reloads must not get the cached 404.
    response.headers["Cache-Control"] = "no-cache"
    return response


def _welcome(asked: RequestedPage, locale: str) -> HttpResponse:
    """Return the welcome page. It is no error, but no content either: neither cached nor indexed."""
    # A session is enough to choose the link: the admin checks it.
    response = HttpResponse(welcome_page(locale, is_staff=not asked.is_visitor))
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex"
    return response
