"""The public site: one view for every address that nothing else answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from proofroom.core.caching.accepted_forms import prefers_markdown
from proofroom.core.database.replica import from_replica
from proofroom.core.outbox import leased_state, live_state
from proofroom.core.site_urls import (
    LLMS,
    SEARCH,
    canonical_form,
    home_of,
    locale_of,
    page_in_markdown,
)
from proofroom.definitions.listings import IndexPage, feed_at, listing_at
from proofroom.website import queries
from proofroom.website.feeds import render_feed
from proofroom.website.form_submission import SubmissionResult
from proofroom.website.http_cache import (
    FEED,
    HTML,
    MARKDOWN,
    MARKDOWN_IF_ACCEPTED,
    MAX_AGE,
    TEXT,
    RenderedPage,
    Representation,
    cached_response,
    rate_limit_response,
)
from proofroom.website.list_pages import list_page
from proofroom.website.llms_txt import render_llms_txt
from proofroom.website.markdown_pages import list_in_markdown, render_post_markdown
from proofroom.website.pages import missing_page, post_page
from proofroom.website.search_page import search_page
from proofroom.website.variation_pages import arm_page

_PAGE_NUMBER: Final = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)
Answer = HttpResponseBase | None


@require_safe
def page(request: HttpRequest, path: str) -> HttpResponseBase:
    """The page at an address; 301 from another form of it; 404 with the site's own page.

    Who is signed in reads what the database has: a session that a replica does not have yet would be ended.
    """
    with from_replica() if _is_visitor(request) else nullcontext():
        return _answer(request, path)


def _is_visitor(request: HttpRequest) -> bool:
    return settings.SESSION_COOKIE_NAME not in request.COOKIES


def _version(request: HttpRequest) -> int:
    """The content version: as this process knows it for visitors, as the database has it for who is signed in."""
    return (leased_state() if _is_visitor(request) else live_state()).version


def _answer(request: HttpRequest, path: str) -> HttpResponseBase:
    address = f"/{path}"
    locale = locale_of(address)
    own = _OWN.get(address.removeprefix(home_of(locale)))
    if own is not None:
        return own(request, locale) or _missing(locale)
    is_markdown = prefers_markdown(request.META.get("HTTP_ACCEPT", ""))
    form = MARKDOWN_IF_ACCEPTED if is_markdown else HTML
    return (
        # No slug has a dot: where a feed is, there is no post.
        _feed_at(request, address, locale)
        or _post_at(request, address, locale, form)
        or _list_at(request, address, locale, form)
        or _markdown_at(request, address, locale)
        or _redirect_to_canonical(request, address)
        or _missing(locale)
    )


def _post_at(request: HttpRequest, address: str, locale: str, form: Representation) -> Answer:
    found = queries.find_post(address, locale)
    if found is None:
        return None
    if found.arms and form is HTML:
        return arm_page(request, found)
    # The id of the module whose form was taken just before; the address says it, so caches may keep it.
    sent = request.GET.get("sent", "")

    def render() -> RenderedPage:
        if form is not HTML:
            return render_post_markdown(found)
        return RenderedPage(post_page(found, SubmissionResult(sent) if sent else None))

    return cached_response(request, form, found.version, render, is_tagged=True)


def _list_at(request: HttpRequest, address: str, locale: str, form: Representation) -> Answer:
    listing = listing_at(address, locale)
    number = _page_number(request)
    if listing is None or number is None:
        return None
    version = _version(request)

    def render() -> RenderedPage | None:
        if form is not HTML:
            return list_in_markdown(listing, number, version)
        html = list_page(listing, number, version)
        return RenderedPage(html) if html is not None else None

    return cached_response(request, form, version, render, is_tagged=True)


def _feed_at(request: HttpRequest, address: str, locale: str) -> Answer:
    type = feed_at(address, locale)
    if type is None:
        return None
    version, index = _version(request), IndexPage(type, locale)
    return cached_response(
        request, FEED, version, lambda: render_feed(index, version), is_tagged=True
    )


def _markdown_at(request: HttpRequest, address: str, locale: str) -> Answer:
    """Return what an address with `.md` at its end stands for: it names the form, whatever the visitor accepts."""
    bare = page_in_markdown(address)
    if bare is None:
        return None
    found = _post_at(request, bare, locale, MARKDOWN)
    return found or _list_at(request, bare, locale, MARKDOWN)


def _search(request: HttpRequest, locale: str) -> Answer:
    refused = rate_limit_response(request)
    number = _page_number(request)
    if refused is not None or number is None:
        return refused
    html = search_page(locale, request.GET.get("q", ""), number)
    if html is None:
        return None
    response = HttpResponse(html)
    # Everybody asks something else; a visitor who goes back needs no second answer.
    response.headers["Cache-Control"] = f"private, max-age={MAX_AGE}"
    return response


def _llms(request: HttpRequest, locale: str) -> Answer:
    return cached_response(request, TEXT, _version(request), lambda: render_llms_txt(locale))


_OWN: Final[dict[str, Callable[[HttpRequest, str], Answer]]] = {SEARCH: _search, LLMS: _llms}
"""What answers below the home page of every locale, where no page can stand."""


def _page_number(request: HttpRequest) -> int | None:
    number = request.GET.get("page", "1")
    return int(number) if _PAGE_NUMBER.fullmatch(number) else None


def _redirect_to_canonical(request: HttpRequest, address: str) -> HttpResponse | None:
    canonical = canonical_form(address)
    if canonical == address:
        return None
    locale = locale_of(canonical)
    is_own = canonical.removeprefix(home_of(locale)) in _OWN
    # Only to a page of this site: what is stored is no `//host`.
    if is_own or listing_at(canonical, locale) or queries.is_published_at(canonical, locale):
        query = request.META.get("QUERY_STRING")
        return HttpResponsePermanentRedirect(f"{canonical}?{query}" if query else canonical)
    return None


def _missing(locale: str) -> HttpResponse:
    response = HttpResponse(missing_page(locale), status=404)
    # Whoever publishes the page and looks again must not see this answer.
    response.headers["Cache-Control"] = "no-cache"
    return response
