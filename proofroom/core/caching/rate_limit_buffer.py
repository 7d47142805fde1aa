"""Hits counted in the process and reported to the shared counter in batches."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Final

from proofroom.core.caching.redis_cache import count_hit

MAX_UNTOLD: Final = 16
"""Number of hits of a caller that other processes may not know yet."""
TELL_SECONDS: Final = 1.0
MAX_CALLERS: Final = 10_000


@dataclass(slots=True)
class _Batch:
    """The hits of one key. `known` is the total of all processes when this one last reported."""

    seconds: int
    known: int = 0
    unreported: int = 0
    reported_at: float | None = None
    is_reporting: bool = False


class BufferedHits:
    """Counts like `count_hit`, but asks the shared counter once for many hits.

    The count of this process is exact. Other processes lack the last few hits: they are reported after `MAX_UNTOLD`
    hits, or with the next hit after a second.
    """

    def __init__(self) -> None:
        self._batches: OrderedDict[str, _Batch] = OrderedDict()
        self._lock = Lock()

    def count(
        self,
        key: str,
        seconds: int,
        hits: int = 1,
        tell: Callable[[Callable[[], None]], object] = lambda task: task(),
    ) -> int:
        """Add hits to a key and return the total. `tell` may run the call of the shared counter later."""
        now = time.monotonic()
        with self._lock:
            batch = self._batches.get(key)
            if batch is None:
                batch = self._batches[key] = _Batch(seconds)
            self._batches.move_to_end(key)
            batch.unreported += hits
            due = {key: batch} if self._is_due(batch, now) else {}
            # Hits of callers that don't return are reported by other callers, one key at a time.
            oldest, other = next(iter(self._batches.items()))
            is_surplus = len(self._batches) > MAX_CALLERS and not other.is_reporting
            if oldest != key and (is_surplus or (other.unreported and self._is_due(other, now))):
                due[oldest] = other
            for batch_due in due.values():
                batch_due.is_reporting = True
        for name in due:
            tell(partial(self._report, name, is_last=name != key))
        return batch.known + batch.unreported

    def clear(self) -> None:
        with self._lock:
            self._batches.clear()

    @staticmethod
    def _is_due(batch: _Batch, now: float) -> bool:
        return not batch.is_reporting and (
            batch.reported_at is None
            or batch.unreported >= MAX_UNTOLD
            or now - batch.reported_at >= TELL_SECONDS
        )

    def _report(self, key: str, *, is_last: bool) -> None:
        with self._lock:
            batch = self._batches.get(key)
            if batch is None:
                return
            unreported, batch.unreported = batch.unreported, 0
            batch.reported_at = time.monotonic()
            # Count them as known during the call, so that `count` stays exact.
            batch.known += unreported
        known = 0
        try:
            if unreported:
                known = count_hit(key, batch.seconds, unreported)
        finally:
            with self._lock:
                # `known` is 0 if the call failed.
                batch.known = max(batch.known, known)
                batch.is_reporting = False
                # Keep it if the caller has returned in the meantime.
                if is_last and not batch.unreported and next(iter(self._batches), None) == key:
                    del self._batches[key]
