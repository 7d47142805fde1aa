"""Counts of calls: in the memory of a server, and told to the others in batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from proofroom.core.caching.redis_cache import count_hit, is_shared

SHARE_SECONDS: Final = 0.25
"""How long a server keeps its hits to itself."""
_MAX_COUNTS: Final = 10_000
Hit = Callable[[str, int], int]
"""Counts one more hit of a key that ends so many seconds after its first; how many there are now."""


@dataclass(slots=True)
class _Count:
    """`total` is what the servers know together, `own` what this one has not told the others."""

    expires: float
    shared_at: float = float("-inf")
    total: int = 0
    own: int = 0


class CallCounts:
    """The hits of one server, counted in its memory, and told to the others in batches."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, _Count] = {}

    def hit(self, key: str, seconds: int) -> int:
        now = time.monotonic()
        with self._lock:
            count = self._counts.get(key)
            if count is None or count.expires <= now:
                self._drop_expired(now)
                count = self._counts[key] = _Count(now + seconds)
            count.own += 1
            if not is_shared() or now - count.shared_at < SHARE_SECONDS:
                return count.total + count.own
            hits, count.own, count.shared_at = count.own, 0, now
            count.total += hits
        total = count_hit(key, seconds, hits)
        with self._lock:
            count.total = max(count.total, total)
            return count.total + count.own

    def _drop_expired(self, now: float) -> None:
        if len(self._counts) >= _MAX_COUNTS:
            kept = {key: count for key, count in self._counts.items() if count.expires > now}
            self._counts = kept if len(kept) < _MAX_COUNTS else {}
