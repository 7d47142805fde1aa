"""Views for search engines: the sitemap and `robots.txt`. They use no session and no cookies."""

from __future__ import annotations

import gzip
import hashlib
import re
from io import BytesIO
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe

from proofroom.core.caching.cache_tags import cache_headers
from proofroom.core.caching.content_tags import ANY_TYPE, tag_of_list
from proofroom.core.site_urls import search_path
from seo.sitemap import FRESH_SECONDS, NotReady, origin_of, sitemap_file

_XML: Final = "application/xml; charset=utf-8"
_CHUNK_BYTES: Final = 64 * 1024
# `q=0` means that an encoding is not accepted (RFC 9110).
_ACCEPTS_GZIP: Final = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|,|$)")


def robots_text(origin: str) -> str:
    """Return `robots.txt`: excludes the management and search pages, or everything if search engines are disabled."""
    if not settings.CMS_ENV.search_engines:
        return "User-agent: *\nDisallow: /\n"
    # With `$` and `?`, because a plain prefix would also match other pages.
    searches = [
        f"{search_path(locale)}{end}" for locale in settings.CMS_ENV.locales for end in "$?"
    ]
    lines = [f"Disallow: {path}" for path in (*settings.MANAGEMENT_PREFIXES, *searches)]
    return "\n".join(["User-agent: *", *lines, "", f"Sitemap: {origin}/sitemap.xml", ""])


@require_safe
def sitemap(request: HttpRequest, number: str = "0") -> HttpResponseBase:
    """Return the sitemap, or a part of it if `/sitemap.xml` is an index."""
    try:
        file = sitemap_file(origin_of(request), int(number))
    except NotReady:
        return HttpResponse("The sitemap is being made.", status=503, headers={"Retry-After": "30"})
    if file is None:
        return HttpResponse(status=404, content_type="text/plain")
    etag = f'W/"{file.digest}"'  # weak, because compressed and plain responses share it
    moment = int(file.built_at.timestamp())
    response: HttpResponseBase | None
    response = get_conditional_response(request, etag=etag, last_modified=moment)
    if response is None and _ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")):
        response = HttpResponse(file.packed, content_type=_XML)
        response.headers["Content-Encoding"] = "gzip"
    elif response is None:
        unpacked = gzip.GzipFile(fileobj=BytesIO(file.packed))
        chunks = iter(lambda: unpacked.read(_CHUNK_BYTES), b"")
        response = StreamingHttpResponse(chunks, content_type=_XML)
    patch_vary_headers(response, ["Accept-Encoding"])
    response.headers["Last-Modified"] = f"{file.built_at:%a, %d %b %Y %H:%M:%S GMT}"
    return _cached_publicly(response, etag)


@require_safe
def robots(request: HttpRequest) -> HttpResponseBase:
    """Return `robots.txt`."""
    text = robots_text(origin_of(request))
    etag = f'"{hashlib.sha256(text.encode()).hexdigest()[:24]}"'
    response = get_conditional_response(request, etag=etag) or HttpResponse(
        text, content_type="text/plain; charset=utf-8"
    )
    return _cached_publicly(response, etag)


def _cached_publicly(response: HttpResponseBase, etag: str) -> HttpResponseBase:
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    for name, value in cache_headers({tag_of_list(ANY_TYPE)}).items():
        response.headers[name] = value
    return response
