"""Rate limits that hold under concurrency, keyed on server facts only."""

from __future__ import annotations

import time
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from core.cache import count_hit

_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def client_address(request: HttpRequest | Request) -> str:
    """The caller's address: the peer's, or what the trusted proxies in front say it is."""
    depth: int = settings.CMS_ENV.trusted_proxies
    peer = str(request.META.get("REMOTE_ADDR", ""))
    if depth == 0:
        return peer
    hops = [part.strip() for part in str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    return hops[-depth] if len(hops) >= depth and hops[-depth] else peer


def is_allowed_freely(address: str) -> bool:
    """Whether the address is on the allow-list (`THROTTLE_ALLOW_IPS`)."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in _networks(settings.CMS_ENV.throttle_allow_ips))


@lru_cache(maxsize=8)
def _networks(values: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(ip_network(value, strict=False) for value in values)


@lru_cache(maxsize=64)
def parse_rate(rate: str) -> tuple[int, int]:
    """`100/hour` as (100, 3600)."""
    count, period = rate.split("/")
    return int(count), _SECONDS[period]


class Count:
    """One hit counted in its window: how many the limit leaves, and when the window ends."""

    def __init__(self, scope: str, ident: str) -> None:
        self.limit, period = parse_rate(settings.THROTTLE_RATES[scope])
        now = time.time()
        window = int(now // period)
        self.reset = int((window + 1) * period)
        self.wait = max(1, self.reset - int(now))
        key = f"throttle:{scope}:{ident}:{window}"
        self.hits = count_hit(key, period + 5)

    @property
    def is_over(self) -> bool:
        return self.hits > self.limit

    @property
    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.hits)),
            "X-RateLimit-Reset": str(self.reset),
        }


class WindowThrottle(BaseThrottle):
    """Counts against the view's `throttle_scope`, else against `user` or `anon`."""

    def __init__(self) -> None:
        self.count: Count | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        address = client_address(request)
        if is_allowed_freely(address):
            return True
        scope = getattr(view, "throttle_scope", None)
        user = request.user
        if scope is None and user.is_authenticated:
            scope, address = "user", f"u{user.pk}"
        self.count = Count(scope or "anon", address)
        request._request.rate_limit_headers = self.count.headers  # type: ignore[attr-defined]
        return not self.count.is_over

    def wait(self) -> float | None:
        return self.count.wait if self.count else None
