"""The answers of the site: kept by caches for a minute, asked for again by ETag, each form of a page by its own.

An answer depends on the address, the live content and the header `Accept` alone: no session, no cookie.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response

from proofroom.core.api.throttles import count_caller
from proofroom.core.caching.answer_cache import CachedAnswer, answers

_LONGEST: Final = 2000
_QUALITY: Final = re.compile(r"(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\Z")


def prefers_markdown(accept: str) -> bool:
    """Return whether Markdown is wanted more than HTML; as much counts only where Markdown is named."""
    # The media ranges with their quality; one whose quality is none is not there.
    ranges: dict[str, float] = {}
    for entry in accept[:_LONGEST].lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        weights = [part.partition("=")[2] for part in parameters if part.startswith("q=")]
        weight = weights[0].strip() if weights else "1"
        if name and _QUALITY.match(weight):
            ranges[name] = max(ranges.get(name, 0.0), float(weight))
    markdown, html = _quality(ranges, "text/markdown"), _quality(ranges, "text/html")
    return markdown > html or (markdown == html > 0 and "text/markdown" in ranges)


def _quality(ranges: dict[str, float], type_: str) -> float:
    """Return what the most specific range says of a type."""
    for name in (type_, f"{type_.partition('/')[0]}/*", "*/*"):
        if name in ranges:
            return ranges[name]
    return 0.0


MAX_AGE: Final = 60


@dataclass(frozen=True, slots=True)
class Representation:
    """The form of a page. A `chosen` one is the answer to what the visitor accepts, at an address of several."""

    content_type: str
    name: str = ""
    is_chosen: bool = False
    is_shared: bool = True

    @property
    def headers(self) -> dict[str, str]:
        # Some shared caches do not look at Vary: what they may keep must do for everybody.
        keepers = "public" if self.is_shared else "private"
        found = {"Cache-Control": f"{keepers}, max-age={MAX_AGE}"}
        return {**found, "Vary": "Accept"} if self.is_chosen else found


HTML: Final = Representation("text/html; charset=utf-8", is_chosen=True)
MARKDOWN: Final = Representation("text/markdown; charset=utf-8", "markdown")
MARKDOWN_IF_ACCEPTED: Final = Representation(
    MARKDOWN.content_type, MARKDOWN.name, is_chosen=True, is_shared=False
)
FEED: Final = Representation("application/rss+xml; charset=utf-8", "feed")
TEXT: Final = Representation("text/plain; charset=utf-8", "text")


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A rendered page, and the headers that go with it."""

    text: str
    headers: Mapping[str, str] = field(default_factory=dict)


def cached_response(
    request: HttpRequest,
    form: Representation,
    version: int,
    render: Callable[[], RenderedPage | None],
) -> HttpResponseBase | None:
    """304 where the visitor has this version of the content, else what is kept of it; it is rendered once for all.
    None for no page.
    """
    etag = f'"{"-".join(filter(None, (str(version), code_version(), form.name)))}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        # Of addresses with a query there is no end: they would push out what visitors ask for.
        key = "" if request.META.get("QUERY_STRING") else f"{form.name or 'page'} {request.path}"
        answer = answers.get(version, key) if key else None
        if answer is None:
            page = render()
            if page is None:
                return None
            content = page.text.encode()
            answer = CachedAnswer(content, "", page.headers)
            if key:
                answer = answers.put(version, key, content, page.headers)
        headers = dict(answer.headers)
        response = HttpResponse(answer.body, content_type=form.content_type, headers=headers)
    for name, value in (("ETag", etag), *form.headers.items()):
        response.headers[name] = value
    return response


def rate_limit_response(request: HttpRequest) -> HttpResponse | None:
    """Return what a caller gets who has asked too often; None for everybody else. Counts the hit."""
    count = count_caller("public", request)
    if count is None or not count.is_over:
        return None
    response = HttpResponse("Too many requests; wait a little.", status=429)
    response.headers["Retry-After"] = str(count.wait)
    response.headers["Cache-Control"] = "no-store"
    return response


@cache
def code_version() -> str:
    """Changes with the templates and styles: after a deployment old pages are not "not modified"."""
    files = [
        settings.BASE_DIR / "content",
        settings.BASE_DIR / "proofroom",
        settings.BASE_DIR / "templates",
        settings.BASE_DIR / "static",
    ]
    times = [
        f"{file.relative_to(settings.BASE_DIR)}:{file.stat().st_mtime_ns}"
        for folder in files
        for file in sorted(folder.rglob("*"))
        if file.suffix in {".py", ".html", ".css", ".js", ".svg", ".mo"}
    ]
    env = settings.CMS_ENV
    times.append(
        f"tracked:{env.analytics_tracking},{env.analytics_consent}"
        f",{env.analytics_batch},{env.analytics_batch_seconds}"
    )
    return hashlib.sha256("\n".join(times).encode()).hexdigest()[:12]
