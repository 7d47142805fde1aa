"""What search engines read: the sitemap and `robots.txt`. No session, no cookie."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe

from seo.origins import origin_of
from seo.robots import robots_text
from seo.sitemap.keeping import FRESH_SECONDS, File, NotReady, file_of

_XML: Final = "application/xml; charset=utf-8"
_PIECE: Final = 64 * 1024
_TAKES_GZIP: Final = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|,|$)")


@require_safe
def sitemap(request: HttpRequest, number: str = "0") -> HttpResponseBase:
    """The sitemap, or a part of it where an index stands at `/sitemap.xml`."""
    try:
        file = file_of(origin_of(request), int(number))
    except NotReady:
        return HttpResponse("The sitemap is being made.", status=503, headers={"Retry-After": "30"})
    if file is None:
        return HttpResponse(status=404, content_type="text/plain")
    return _answered(request, file)


@require_safe
def robots(request: HttpRequest) -> HttpResponseBase:
    """What search engines may ask for."""
    text = robots_text(origin_of(request))
    etag = f'"{hashlib.sha256(text.encode()).hexdigest()[:24]}"'
    response = get_conditional_response(request, etag=etag) or HttpResponse(
        text, content_type="text/plain; charset=utf-8"
    )
    return _for_all(response, etag)


def _answered(request: HttpRequest, file: File) -> HttpResponseBase:
    etag = f'W/"{file.digest}"'  # weak: packed or not, the words are the same
    moment = int(file.built_at.timestamp())
    response: HttpResponseBase | None
    response = get_conditional_response(request, etag=etag, last_modified=moment)
    if response is None and _TAKES_GZIP.search(request.headers.get("Accept-Encoding", "")):
        response = HttpResponse(file.packed, content_type=_XML)
        response.headers["Content-Encoding"] = "gzip"
    elif response is None:
        response = StreamingHttpResponse(_unpacked(file.packed), content_type=_XML)
    patch_vary_headers(response, ["Accept-Encoding"])
    response.headers["Last-Modified"] = f"{file.built_at:%a, %d %b %Y %H:%M:%S GMT}"
    return _for_all(response, etag)


def _for_all(response: HttpResponseBase, etag: str) -> HttpResponseBase:
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    return response


def _unpacked(packed: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=BytesIO(packed)) as file:
        while piece := file.read(_PIECE):
            yield piece
