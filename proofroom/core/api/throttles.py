"""Rate limits of the API as throttles of Django REST framework."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from proofroom.core.api.django_request import django_request
from proofroom.core.bots import is_internal_request
from proofroom.core.caching.rate_limits import (
    HitCount,
    client_address,
    is_allow_listed,
    set_rate_limit_headers,
)


def is_unlimited(request: HttpRequest) -> bool:
    """Return whether calls of this request are not counted: from an exempt address, or the site's own."""
    return is_allow_listed(client_address(request)) or is_internal_request(request)


class WindowThrottle(BaseThrottle):
    """Counts a call against the view's `throttle_scope`, otherwise against `user` or `anon`."""

    count: HitCount | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        if is_unlimited(django_request(request)):
            return True
        self.count = self.count_of(request, view, client_address(request))
        set_rate_limit_headers(django_request(request), self.count)
        return not self.count.is_over

    def count_of(self, request: Request, view: Any, address: str) -> HitCount:
        """Count the call and return the count."""
        scope = getattr(view, "throttle_scope", None)
        user = request.user
        if scope is None and user.is_authenticated:
            # The prefix keeps ids of users apart from addresses.
            scope, address = "user", f"u{user.pk}"
        return HitCount(scope or "anon", address)

    def wait(self) -> float | None:
        return self.count.wait if self.count else None
