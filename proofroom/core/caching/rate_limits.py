"""Rate limits that hold under concurrency, keyed on server facts only."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.http import HttpRequest

from proofroom.core.caching.redis_cache import count_hit, count_seen

if TYPE_CHECKING:
    from rest_framework.request import Request

NO_LIMIT: Final = "off"
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def client_address(request: HttpRequest | Request) -> str:
    """The caller's address: the peer's, or what the trusted proxies in front say it is."""
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    return caller_address(str(request.META.get("REMOTE_ADDR", "")), forwarded)


def caller_address(peer: str, forwarded: str) -> str:
    """The address behind `peer`, of what `X-Forwarded-For` says.

    It is read from the right: further left stands what the caller made up. What is no address there counts as the
    peer's.
    """
    depth: int = settings.CMS_ENV.trusted_proxies
    if depth == 0:
        return peer
    hops = forwarded.split(",")
    if len(hops) < depth:
        return peer
    # As proxies write it, with or without a port.
    text = hops[-depth].strip()
    if text.count(":") == 1 or text.startswith("["):
        text = text.rpartition(":")[0] if not text.endswith("]") else text
    try:
        return str(ip_address(text.strip("[]")))
    except ValueError:
        return peer


@lru_cache(maxsize=4096)
def rate_limit_key(address: str) -> str:
    """Return what limits are counted by: the address, or the /64 of IPv6 that one household has whole."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((found.packed, 64), strict=False))


def is_allowed_freely(address: str) -> bool:
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
    """`100/hour` as (100, 3600); `off` as (0, 0)."""
    if rate == NO_LIMIT:
        return 0, 0
    count, period = rate.split("/")
    return int(count), _SECONDS[period]


SLIDING_SCOPES: Final = frozenset({"login", "forms", "trigger", "oauth"})
"""Limits that hold for every period, whenever it begins: of tries, and of calls that store or cost something.

The others keep load away and begin anew with each minute or hour of the clock, which one counter can tell.
"""
_SLOTS: Final = 240
"""The parts of a period in which hits are counted, to leave one by one: a quarter of a second of a minute."""
RATE_LIMIT_HEADERS: Final = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


class HitCount:
    """Hits counted in their window: how many the limit leaves, and when the window ends.

    A rate that is `off` counts nothing and is never over. `count` is what counts, under a key that ends some seconds
    after its first hit. A hit of a sliding scope that is over the limit is taken back.
    """

    def __init__(
        self,
        scope: str,
        ident: str,
        hits: int = 1,
        count: Callable[[str, int, int], int] = count_hit,
    ) -> None:
        self.limit, period = parse_rate(settings.THROTTLE_RATES[scope])
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
        self.hits = count(self.key, period + 5, hits)

    def _count_sliding(self, name: str, period: int, now: float, hits: int) -> None:
        width = period / _SLOTS
        current = int(now // width)
        # The next one, too: a process whose clock is ahead counts in it already.
        slots = [slot for slot in range(current - _SLOTS + 1, current + 2) if slot != current]
        key, seconds = f"{name}:{period}:{current}", period + math.ceil(width) + 5
        # Counted before the others are read: of calls at the same time none passes the limit unseen.
        own = count_hit(key, seconds, hits)
        counts = dict(
            zip(slots, count_seen([f"{name}:{period}:{slot}" for slot in slots]), strict=True)
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
            count_hit(key, seconds, -hits)

    @property
    def is_over(self) -> bool:
        return self.hits > self.limit

    @property
    def headers(self) -> dict[str, str]:
        if not self.limit:
            return {}
        left = max(0, self.limit - self.hits)
        values = (str(self.limit), str(left), str(self.reset))
        return dict(zip(RATE_LIMIT_HEADERS, values, strict=True))


def count_caller(scope: str, request: HttpRequest | Request, hits: int = 1) -> HitCount | None:
    """Count hits against the rate of the caller's address. None for an address that is free of limits."""
    address = client_address(request)
    return None if is_allowed_freely(address) else HitCount(scope, address, hits)


def show_rate_limit(request: HttpRequest, count: HitCount) -> None:
    """Have the answer to an API request carry the headers of this count."""
    request.rate_limit_headers = count.headers  # type: ignore[attr-defined]
