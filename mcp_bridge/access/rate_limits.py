"""Rate limits per credential: counters per window of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from django.conf import settings
from pydantic import BaseModel

from mcp_bridge.access.principals import Principal
from proofroom.core.api.throttles import parse_rate
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
    if not principal.is_counted:
        return
    environment = settings.CMS_ENV
    moment = time.time() if now is None else now
    _count(principal.id, environment.throttle_mcp, moment, "", hit)
    if tool is not None:
        costly = environment.throttle_mcp_costly
        rate = costly if tool.costs else environment.throttle_mcp_tool
        _count(f"{principal.id}:{tool.name}", rate, moment, f" of {tool.name}", hit)


def _count(key: str, rate: str, now: float, of: str, hit: Hit) -> None:
    limit, length = parse_rate(rate)
    if not limit:
        return
    window, into = divmod(now, length)
    calls = hit(f"mcp-calls:{key}:{int(window)}", 2 * length)
    if calls > limit:
        period = rate.split("/")[1]
        raise TooManyCalls(
            f"Too many calls{of}: the limit is {limit} a {period} for this credential. "
            f"Wait {max(1, round(length - into))} seconds, then go on; "
            "prefer one call for a list over one call for each item."
        )
