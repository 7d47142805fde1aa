"""Rate limits per credential: counters per window of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from django.conf import settings
from pydantic import BaseModel

from mcp_bridge.access.principals import Principal
from proofroom.core.api.throttles import parse_rate
from proofroom.core.caching.hit_batches import HitBatches
from proofroom.core.caching.redis_cache import count_hit
from proofroom.core.errors import CmsError
from proofroom.core.tools import Tool

Hit: TypeAlias = Callable[[str, int], int]
"""Counts one more hit of a key that ends so many seconds after its first; how many there are now."""


class TooManyCalls(CmsError):
    """The caller's window is used up."""

    status = 429
    code = "too_many_calls"


def count_call(
    principal: Principal,
    tool: Tool[BaseModel] | None = None,
    now: float | None = None,
    hit: Hit = count_hit,
) -> None:
    """Count one request of the principal, for `tool` where it is a call, at `now` (default the present), by `hit`.

    Raises `TooManyCalls`, with the seconds to wait, beyond a rate of the environment: `throttle_mcp` of all,
    `throttle_mcp_tool` of one tool, or `throttle_mcp_costly` where the tool costs.
    """
    moment = time.time() if now is None else now
    for one in _limits_of(principal, tool, moment):
        if hit(one.key, 2 * one.length) > one.limit:
            raise TooManyCalls(
                f"Too many calls{one.of}: the limit is {one.limit} a {one.period} for this credential. "
                f"Wait {max(1, round(one.length - moment % one.length))} seconds, then go on; "
                "prefer one call for a list over one call for each item."
            )


def count_call_unasked(principal: Principal, tool: Tool[BaseModel], counts: HitBatches) -> bool:
    """Count a call without asking anybody else, and answer whether that could be done and no rate is used up.

    Else nothing is counted.
    """
    limits = _limits_of(principal, tool, time.time())
    return counts.count_unasked({one.key: one.limit for one in limits})


@dataclass(frozen=True, slots=True)
class _Limit:
    """So many hits of a key in a window of `length` seconds."""

    key: str
    limit: int
    length: int
    period: str
    of: str


def _limits_of(principal: Principal, tool: Tool[BaseModel] | None, moment: float) -> list[_Limit]:
    """The limits that a request counts against, with the keys of their present windows."""
    if not principal.is_counted:
        return []
    environment = settings.CMS_ENV
    rates = [(principal.id, environment.throttle_mcp, "")]
    if tool is not None:
        rate = environment.throttle_mcp_costly if tool.costs else environment.throttle_mcp_tool
        rates.append((f"{principal.id}:{tool.name}", rate, f" of {tool.name}"))
    limits = []
    for key, rate, of in rates:
        limit, length = parse_rate(rate)
        if limit:
            window = f"mcp-calls:{key}:{int(moment // length)}"
            limits.append(_Limit(window, limit, length, rate.split("/")[1], of))
    return limits
