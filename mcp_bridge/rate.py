"""How often one credential may call tools: a counter per window of time in the cache."""

from __future__ import annotations

import time

from django.conf import settings

from core.cache import count_hit
from core.errors import CmsError

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


class TooManyCalls(CmsError):
    """The caller's window is used up."""

    status = 429
    code = "too_many_calls"


def count_call(principal_id: str, now: float | None = None) -> None:
    """Count one call of the principal at `now` (seconds of the clock, default the present).

    Raises `TooManyCalls`, with the seconds to wait, beyond the rate `throttle_mcp` of the
    environment.
    """
    rate: str = settings.CMS_ENV.throttle_mcp
    if rate == "off":
        return
    limit, period = rate.split("/")
    length = SECONDS[period]
    window, into = divmod(time.time() if now is None else now, length)
    key = f"mcp-calls:{principal_id}:{int(window)}"
    calls = count_hit(key, 2 * length)
    if calls > int(limit):
        raise TooManyCalls(
            f"Too many calls: the limit is {limit} a {period} for this credential. "
            f"Wait {max(1, round(length - into))} seconds, then go on; "
            "prefer one call for a list over one call for each item."
        )
