"""Django's request behind a request of REST framework, for functions of Django and for marks on the request."""

from __future__ import annotations

from django.http import HttpRequest
from rest_framework.request import Request


def django_request(request: Request) -> HttpRequest:
    """Return the request that the framework wraps: what is set on the wrapper does not reach the middleware."""
    return request._request
