"""Responses of the site: cached for a minute, revalidated by ETag, with an ETag for each form of a page.

A response depends only on the address, the live content and the `Accept` header, not on a session or cookie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.http import HttpRequest, HttpResponse

from proofroom.core.caching.answer_cache import CachedAnswer, answers, etag_of
from proofroom.core.caching.cache_tags import (
    cache_headers,
    dependencies_of,
    public_cache_control,
)
from proofroom.core.caching.content_tags import EVERYTHING, INCOMPLETE, collect_tags
from proofroom.core.caching.content_version import tags_changed_since
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.caching.front_cache import mark_cacheable
from proofroom.core.caching.rate_limits import count_caller
from proofroom.core.site_urls import PAGE_MAX_AGE, PAGE_PARAMETERS


@dataclass(frozen=True, slots=True)
class Representation:
    """The form of a page. A `chosen` one was selected by the `Accept` header, at an address with several forms."""

    content_type: str
    name: str = ""
    is_chosen: bool = False
    is_shared: bool = True

    @property
    def headers(self) -> dict[str, str]:
        # Some shared caches ignore Vary, so only an answer for all clients may be public.
        shared, private = public_cache_control(PAGE_MAX_AGE), f"private, max-age={PAGE_MAX_AGE}"
        found = {"Cache-Control": shared if self.is_shared else private}
        return {**found, "Vary": "Accept"} if self.is_chosen else found


HTML: Final = Representation("text/html; charset=utf-8", is_chosen=True)
MARKDOWN: Final = Representation("text/markdown; charset=utf-8", "markdown")
MARKDOWN_IF_ACCEPTED: Final = Representation(
    MARKDOWN.content_type, MARKDOWN.name, is_chosen=True, is_shared=False
)
FEED: Final = Representation("application/rss+xml; charset=utf-8", "feed")
FOUND: Final = Representation("text/html; charset=utf-8", "search", is_shared=False)
"""The form of search results: cached only in the browser, so that going back sends no second request."""
TEXT: Final = Representation("text/plain; charset=utf-8", "text")


@dataclass(frozen=True, slots=True)
class RequestedPage:
    """A request reduced to the parts that pages depend on. `full_path` includes the prefix of the application.

    `query` has only the parameters in `PAGE_PARAMETERS`.
    """

    path: str
    full_path: str
    query: str
    accept: str
    is_visitor: bool
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A rendered page and its headers."""

    text: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """The answer at an address, in one form."""

    form: Representation
    state: LiveState
    answer: CachedAnswer
    is_for_all: bool

    @property
    def headers(self) -> dict[str, str]:
        """Return the content type and caching headers."""
        return {"Content-Type": self.form.content_type, **self.answer.headers, **self.form.headers}

    def response(self) -> HttpResponse:
        """Return the answer as a Django response."""
        response = HttpResponse(self.answer.body, headers=self.headers)
        if self.answer.etag:
            response.headers["ETag"] = self.answer.etag
        return mark_cacheable(
            response,
            self.state,
            self.answer,
            is_for_all=self.is_for_all,
            parameters=PAGE_PARAMETERS,
        )


def cached_answer(
    asked: RequestedPage,
    form: Representation,
    state: LiveState,
    render: Callable[[], RenderedPage | None],
    *,
    number: int = 1,
    is_for_all: bool = True,
    is_tagged: bool = False,
) -> SiteAnswer | None:
    """Return the page, rendered once for all visitors, or None if there is no page.

    `number` is the page of a list. An answer that is not `is_for_all` depends on more than the address and the
    `Accept` header, so the front cache does not store it. An answer that `is_tagged` depends on the content its
    queries name, any other on all content.
    """
    # Drops the answers that depend on content changed since the cache's state.
    answers.follow(state, tags_changed_since)
    # Of the addresses with a query, cache only pages of lists, whose number is bounded: callers could fill the
    # cache with other queries.
    is_kept = asked.query in ("", f"page={number}")
    key = f"{form.name or 'page'} {asked.full_path}?{asked.query}" if is_kept else ""
    answer = answers.get(state, key) if key else None
    if answer is None:
        with collect_tags() as tags:
            page = render()
        if page is None:
            return None
        content = page.text.encode()
        answer = CachedAnswer(
            content,
            etag_of(content, form.name),
            {**page.headers, **cache_headers(tags)},
            tags=dependencies_of(tags) if is_tagged else frozenset({EVERYTHING}),
        )
        # A page with a failed part must not be cached.
        is_kept = is_kept and INCOMPLETE not in tags
        if is_kept:
            answers.put(state, key, answer)
    # The front cache must not store what this process does not.
    return SiteAnswer(form, state, answer, is_for_all and is_kept)


def rate_limit_response(request: HttpRequest) -> HttpResponse | None:
    """Count the request. Return a 429 response if the caller exceeded the limit, else None."""
    count = count_caller("public", request)
    if count is None or not count.is_over:
        return None
    response = HttpResponse("Too many requests; wait a little.", status=429)
    response.headers["Retry-After"] = str(count.wait)
    response.headers["Cache-Control"] = "no-store"
    return response
