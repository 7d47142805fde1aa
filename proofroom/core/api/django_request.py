"""Django's request behind a request of REST framework, for functions of Django and for marks on the request."""

from __future__ import annotations

from typing import Final, cast

from django.http import HttpRequest
from rest_framework.request import Request

DJANGO_REQUEST: Final = "django_request"
"""Key in the parser context of a request, which its copies share. The views set it."""


def django_request(request: Request) -> HttpRequest:
    """Return the request that the framework wraps: what is set on the wrapper does not reach the middleware."""
    return cast("HttpRequest", request.parser_context[DJANGO_REQUEST])
