"""Lets scripts of other sites read answers that are public anyway, and without anybody's session.

`*` is answered, never credentials, so that a browser refuses to hand over what a visitor's session would get.
"""

from __future__ import annotations

import re
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

READ_METHODS: Final = ("GET", "HEAD")
WRITE_METHODS: Final = ("POST",)
OPEN_PATHS: Final = (
    (re.compile(r"/api/public/(?!agents/)"), READ_METHODS),
    (re.compile(r"/api/menus/."), READ_METHODS),
    (re.compile(r"/api/forms-definitions/."), READ_METHODS),
    (re.compile(r"/api/forms/[^/]+/submit\Z"), WRITE_METHODS),
    (re.compile(r"/api/public/analytics/track\Z"), WRITE_METHODS),
)
"""Addresses with the methods that scripts of other sites may use there."""
_SEEN: Final = (
    "ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Location"
)
_DAY: Final = "86400"


class PublicOriginsMiddleware(MiddlewareMixin):
    """Answers preflights of the public addresses and marks their answers as readable from everywhere."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        wanted = request.headers.get("Access-Control-Request-Method")
        if request.method != "OPTIONS" or wanted is None:
            return None
        methods = open_methods(request.path_info)
        if wanted not in methods:
            return None
        return HttpResponse(
            status=204,
            headers={
                "Access-Control-Allow-Origin": "*",
                "Access-Control-Allow-Methods": ", ".join(methods),
                "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
                "Access-Control-Max-Age": _DAY,
            },
        )

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.method in open_methods(request.path_info):
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = _SEEN
        return response


def open_methods(path: str) -> list[str]:
    """The methods that are open at a path."""
    return [method for pattern, methods in OPEN_PATHS if pattern.match(path) for method in methods]
