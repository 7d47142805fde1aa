"""The public site: one view for every address that nothing else answers.

An answer depends on the address and the live content alone: no session, no cookie, no `Vary`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from content.site import queries
from content.site.addresses import canonical_form, locale_of
from content.site.listings import list_page, listed_at
from content.site.pages import missing_page, post_page
from core.events import content_version

MAX_AGE = 60
_PAGE_NUMBER = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)


@require_safe
def page(request: HttpRequest, path: str) -> HttpResponseBase:
    """The page at an address; 301 from another form of it; 404 with the site's own page."""
    address = f"/{path}"
    locale = locale_of(address)
    post = queries.find_post(address, locale)
    if post is not None:
        version: int = post.content_version  # type: ignore[attr-defined]  # annotated by find_post
        return _cached(request, version, lambda: post_page(post))
    type = listed_at(address, locale)
    if type is not None:
        number = request.GET.get("page", "1")
        if _PAGE_NUMBER.fullmatch(number):
            return _cached(request, content_version(), lambda: list_page(type, locale, int(number)))
    return _moved(request, address) or _missing(locale)


def _cached(
    request: HttpRequest, version: int, render: Callable[[], str | None]
) -> HttpResponseBase:
    """304 where the visitor has this version of the content, before anything is rendered."""
    etag = f'"{version}-{_code_version()}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        html = render()
        if html is None:
            return _missing(locale_of(request.path_info))
        response = HttpResponse(html)
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response


def _moved(request: HttpRequest, address: str) -> HttpResponse | None:
    canonical = canonical_form(address)
    if canonical == address:
        return None
    locale = locale_of(canonical)
    # Only to a page of this site: what is stored is no `//host`.
    if listed_at(canonical, locale) or queries.is_published_at(canonical, locale):
        query = request.META.get("QUERY_STRING")
        return HttpResponsePermanentRedirect(f"{canonical}?{query}" if query else canonical)
    return None


def _missing(locale: str) -> HttpResponse:
    response = HttpResponse(missing_page(locale), status=404)
    # Whoever publishes the page and looks again must not see this answer.
    response.headers["Cache-Control"] = "no-cache"
    return response


@cache
def _code_version() -> str:
    """Changes with the templates and styles: after a deployment old pages are not "not modified"."""
    files = [
        Path(__file__).parents[1],
        settings.BASE_DIR / "templates",
        settings.BASE_DIR / "static",
    ]
    times = [
        f"{file.relative_to(settings.BASE_DIR)}:{file.stat().st_mtime_ns}"
        for folder in files
        for file in sorted(folder.rglob("*"))
        if file.suffix in {".py", ".html", ".css", ".js", ".svg", ".mo"}
    ]
    return hashlib.sha256("\n".join(times).encode()).hexdigest()[:12]
