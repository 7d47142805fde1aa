"""Rate limits per credential: counters in fixed time windows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from django.conf import settings
from pydantic import BaseModel

from mcp_bridge.access.principals import Principal
from proofroom.core.caching.rate_limits import parse_rate
from proofroom.core.caching.redis_cache import count_hit
from proofroom.core.errors import CmsError
from proofroom.core.tools import Tool

Hit: TypeAlias = Callable[[str, int], int]
"""Counts a hit of a key that expires that many seconds after its first hit; returns the number of hits."""


class TooManyCalls(CmsError):
    """The rate limit of the caller is reached."""

    status = 429
    code = "too_many_calls"


@dataclass(frozen=True, slots=True)
class Window:
    """A time window with its rate limit. `left`: remaining seconds."""

    key: str
    limit: int
    period: str
    of: str
    length: int
    left: float

    def count(self, hit: Hit) -> None:
        """Count a hit. Raises `TooManyCalls` beyond the limit."""
        if hit(self.key, 2 * self.length) > self.limit:
            raise TooManyCalls(
                f"Too many calls{self.of}: the limit is {self.limit} a {self.period} for this credential. "
                f"Wait {max(1, round(self.left))} seconds, then go on; "
                "prefer one call for a list over one call for each item."
            )


def windows_of(
    principal: Principal, tool: Tool[BaseModel] | None = None, now: float | None = None
) -> Iterator[Window]:
    """Yield the windows that count a request of the principal, for a call with `tool`, at `now`
    (default: now).

    `throttle_mcp` limits all requests, `throttle_mcp_tool` each tool, `throttle_mcp_costly` each
    tool that costs money.
    """
    if not principal.is_counted:
        return
    environment = settings.CMS_ENV
    moment = time.time() if now is None else now
    rates = [(principal.id, environment.throttle_mcp, "")]
    if tool is not None:
        costly = environment.throttle_mcp_costly
        rate = costly if tool.costs else environment.throttle_mcp_tool
        rates.append((f"{principal.id}:{tool.name}", rate, f" of {tool.name}"))
    for key, rate, of in rates:
        limit, length = parse_rate(rate)
        if limit:
            # Aligned to the clock, so that all processes count in the same window.
            window, into = divmod(moment, length)
            name, period = f"mcp-calls:{key}:{int(window)}", rate.split("/")[1]
            yield Window(name, limit, period, of, length, length - into)


def count_call(
    principal: Principal,
    tool: Tool[BaseModel] | None = None,
    now: float | None = None,
    hit: Hit = count_hit,
) -> None:
    """Count one request in each of its windows. Raises `TooManyCalls` with the seconds to wait."""
    for window in windows_of(principal, tool, now):
        window.count(hit)
