"""The answer at an address of the site, in the accepted form. Uses no Django request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from proofroom.core.caching.answer_cache import CachedAnswer
from proofroom.core.caching.content_negotiation import prefers_markdown
from proofroom.core.caching.content_version import leased_state, live_state
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.site_urls import LLMS, home_path, locale_of, page_in_markdown
from proofroom.definitions.listings import IndexPage, feed_at, listing_at
from proofroom_apps.website.feeds import render_feed
from proofroom_apps.website.form_submission import SubmissionResult
from proofroom_apps.website.http_cache import (
    FEED,
    FOUND,
    HTML,
    MARKDOWN,
    MARKDOWN_IF_ACCEPTED,
    TEXT,
    RenderedPage,
    Representation,
    RequestedPage,
    SiteAnswer,
    cached_answer,
)
from proofroom_apps.website.list_pages import list_page
from proofroom_apps.website.llms_txt import render_llms_txt
from proofroom_apps.website.markdown_pages import list_in_markdown, render_post_markdown
from proofroom_apps.website.pages import post_page
from proofroom_apps.website.queries import FoundPost, find_published_post
from proofroom_apps.website.search_page import search_page

_PAGE_NUMBER: Final = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)
Found = SiteAnswer | FoundPost | None
"""An answer, a post with running variations (its answer differs by visitor), or None if there is no page."""


def find_answer(asked: RequestedPage) -> Found:
    """Return the answer at the requested address."""
    address = asked.path
    locale = locale_of(address)
    own = OWN_ANSWERS.get(address.removeprefix(home_path(locale)))
    if own is not None:
        return own(asked, locale)
    form = MARKDOWN_IF_ACCEPTED if prefers_markdown(asked.accept) else HTML
    return (
        # Slugs contain no dot, so a feed's address cannot be a post's.
        _feed_at(asked, locale)
        # The list itself checks for a post at its address.
        or _list_at(asked, address, locale, form)
        or _post_at(asked, address, locale, form)
        or _markdown_at(asked, locale)
    )


def page_number(asked: RequestedPage) -> int | None:
    """Return the requested page number of a list, or None if it is invalid."""
    number = asked.parameters.get("page", "1")
    return int(number) if _PAGE_NUMBER.fullmatch(number) else None


def search_answer(asked: RequestedPage, locale: str) -> SiteAnswer | None:
    """Return a page of search results, or None past the last. Only browsers may cache it: queries rarely repeat."""
    number = page_number(asked)
    state = _state(asked)
    html = search_page(locale, asked.parameters.get("q", ""), number, state) if number else None
    if html is None:
        return None
    return SiteAnswer(FOUND, state, CachedAnswer(html.encode(), etag=""), is_for_all=False)


def _state(asked: RequestedPage) -> LiveState:
    """Return the content state: the process's cached one for visitors, the database's for signed-in users."""
    return leased_state() if asked.is_visitor else live_state()


def _post_at(asked: RequestedPage, address: str, locale: str, form: Representation) -> Found:
    found = find_published_post(address, locale)
    if found is None:
        return None
    # Markdown is always that of the original.
    if found.arms and form is HTML:
        return found
    # After a submitted form, `sent` is the id of its module.
    sent = asked.parameters.get("sent", "")

    def render() -> RenderedPage:
        if form is not HTML:
            return render_post_markdown(found)
        return RenderedPage(post_page(found, SubmissionResult(sent) if sent else None))

    return cached_answer(asked, form, found.state, render, is_tagged=True)


def _list_at(
    asked: RequestedPage, address: str, locale: str, form: Representation
) -> SiteAnswer | None:
    listing = listing_at(address, locale)
    number = page_number(asked) if listing is not None else None
    if listing is None or number is None:
        return None
    state = _state(asked)

    def render() -> RenderedPage | None:
        if form is not HTML:
            return list_in_markdown(listing, number, state)
        html = list_page(listing, number, state)
        return RenderedPage(html) if html is not None else None

    return cached_answer(asked, form, state, render, number=number, is_tagged=True)


def _feed_at(asked: RequestedPage, locale: str) -> SiteAnswer | None:
    type = feed_at(asked.path, locale)
    if type is None:
        return None
    state, index = _state(asked), IndexPage(type, locale)
    return cached_answer(asked, FEED, state, lambda: render_feed(index, state), is_tagged=True)


def _markdown_at(asked: RequestedPage, locale: str) -> Found:
    """Return the answer at an address ending in `.md`, which is Markdown whatever the `Accept` header says."""
    bare = page_in_markdown(asked.path)
    if bare is None:
        return None
    found = _list_at(asked, bare, locale, MARKDOWN)
    return found or _post_at(asked, bare, locale, MARKDOWN)


def _llms(asked: RequestedPage, locale: str) -> SiteAnswer | None:
    return cached_answer(asked, TEXT, _state(asked), lambda: render_llms_txt(locale))


OWN_ANSWERS: Final[dict[str, Callable[[RequestedPage, str], SiteAnswer | None]]] = {LLMS: _llms}
"""Handlers of reserved addresses below each locale's home page."""
