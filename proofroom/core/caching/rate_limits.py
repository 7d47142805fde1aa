"""Rate limits that are exact under concurrency, keyed by facts the server knows, not by the client's claims."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.http import HttpRequest

from proofroom.core.caching.redis_cache import count_hit, get_hit_counts

if TYPE_CHECKING:
    from rest_framework.request import Request

NO_LIMIT: Final = "off"
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def client_address(request: HttpRequest | Request) -> str:
    """Return the caller's IP address: the peer's, or the one that trusted proxies report."""
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    return caller_address(str(request.META.get("REMOTE_ADDR", "")), forwarded)


def caller_address(peer: str, forwarded: str) -> str:
    """Return the address behind `peer` from `X-Forwarded-For`, counted from the right.

    Entries further left can be forged by the caller. Returns `peer` for an invalid entry.
    """
    depth: int = settings.CMS_ENV.trusted_proxies
    if depth == 0:
        return peer
    hops = forwarded.split(",")
    # The request did not come through all of the trusted proxies, so the header is not theirs.
    if len(hops) < depth:
        return peer
    # Proxies write it with or without a port.
    text = hops[-depth].strip()
    if text.count(":") == 1 or text.startswith("["):
        text = text.rpartition(":")[0] if not text.endswith("]") else text
    try:
        return str(ip_address(text.strip("[]")))
    except ValueError:
        return peer


@lru_cache(maxsize=4096)
def rate_limit_key(address: str) -> str:
    """Return the key for limits: the address, or the /64 network of an IPv6 address, because one household owns
    all of it.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((found.packed, 64), strict=False))


def is_allow_listed(address: str) -> bool:
    """Return whether the address is on the allow-list (`THROTTLE_ALLOW_IPS`)."""
    if not settings.CMS_ENV.throttle_allow_ips:
        return False
    try:
        found = ip_address(address)
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in network for network in _networks(settings.CMS_ENV.throttle_allow_ips))


@lru_cache(maxsize=8)
def _networks(values: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(ip_network(value, strict=False) for value in values)


@lru_cache(maxsize=64)
def parse_rate(rate: str) -> tuple[int, int]:
    """Parse `100/hour` as (100, 3600) and `off` as (0, 0)."""
    if rate == NO_LIMIT:
        return 0, 0
    count, period = rate.split("/")
    return int(count), _SECONDS[period]


SLIDING_SCOPES: Final = frozenset({"login", "forms", "trigger", "oauth"})
"""Scopes with a sliding window: login attempts, and calls that store or cost something.

The other limits only reduce load. They restart with each period of the clock, which needs a single counter.
"""
_SLOTS: Final = 240
"""Number of slots of a period. Hits expire slot by slot; for a minute, a slot is a quarter of a second."""
_MOST_TAKEN_BACK: Final = 10
"""Hits that can be taken back in a window, as a multiple of the limit."""
RATE_LIMIT_HEADERS: Final = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


class HitCount:
    """Hits counted in their window: how many the limit leaves, and when the window ends.

    A rate that is `off` counts nothing. `rate` replaces the rate of the scope. `count` increments a key that expires
    some seconds after its first hit. A hit of a sliding scope that exceeds the limit is subtracted again.
    """

    def __init__(
        self,
        scope: str,
        ident: str,
        hits: int = 1,
        count: Callable[[str, int, int], int] = count_hit,
        rate: str = "",
    ) -> None:
        self.limit, period = parse_rate(rate or settings.THROTTLE_RATES[scope])
        self._seconds = period + 5
        self.key = ""
        self.hits = self.reset = 0
        self.wait = 1
        if not self.limit:
            return
        now = time.time()
        if scope in SLIDING_SCOPES:
            self._count_sliding(f"throttle:{scope}:{rate_limit_key(ident)}", period, now, hits)
            return
        window = int(now // period)
        self.reset = int((window + 1) * period)
        self.wait = max(1, self.reset - int(now))
        self.key = f"throttle:{scope}:{rate_limit_key(ident)}:{window}"
        self.hits = count(self.key, self._seconds, hits)

    def _count_sliding(self, name: str, period: int, now: float, hits: int) -> None:
        width = period / _SLOTS
        current = int(now // width)
        # Including the next slot, where a process whose clock is ahead counts already.
        slots = [slot for slot in range(current - _SLOTS + 1, current + 2) if slot != current]
        key, seconds = f"{name}:{period}:{current}", period + math.ceil(width) + 5
        # Count before reading the other slots: with concurrent calls each then sees the other, and
        # none exceeds the limit.
        own = count_hit(key, seconds, hits)
        counts = dict(
            zip(slots, get_hit_counts([f"{name}:{period}:{slot}" for slot in slots]), strict=True)
        )
        self.hits = own + sum(counts.values())
        self.reset = math.ceil(now) + period
        left = self.hits - self.limit
        for slot, count in sorted({**counts, current: own}.items()):
            if left <= 0:
                break
            left -= count
            self.wait = max(1, math.ceil((slot + _SLOTS) * width - now))
        if self.is_over:
            # Refused hits don't count, so that a caller who keeps trying gets in when earlier hits
            # expire.
            count_hit(key, seconds, -hits)

    @property
    def is_over(self) -> bool:
        return self.hits > self.limit

    def take_back(self) -> None:
        """Subtract one hit again, of a call that does not count. Only for scopes that restart with the clock.

        At most ten times the limit, because anybody can send a condition that answers meet.
        """
        if not self.key:
            return
        if count_hit(f"{self.key}:back", self._seconds, 1) <= self.limit * _MOST_TAKEN_BACK:
            self.hits = count_hit(self.key, self._seconds, -1)

    @property
    def headers(self) -> dict[str, str]:
        if not self.limit:
            return {}
        left = max(0, self.limit - self.hits)
        values = (str(self.limit), str(left), str(self.reset))
        return dict(zip(RATE_LIMIT_HEADERS, values, strict=True))


def count_caller(scope: str, request: HttpRequest | Request, hits: int = 1) -> HitCount | None:
    """Count hits of the caller's address. None for an address without limits."""
    address = client_address(request)
    return None if is_allow_listed(address) else HitCount(scope, address, hits)


def set_rate_limit_headers(request: HttpRequest, count: HitCount) -> None:
    """Add the rate-limit headers of this count to the response of an API request."""
    request.rate_limit_headers = count.headers  # type: ignore[attr-defined]
