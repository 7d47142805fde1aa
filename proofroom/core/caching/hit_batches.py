"""Hits that are answered from memory: counted here, and told to the shared counter in batches."""

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
"""Hits of a caller that other processes do not know of yet."""
TELL_SECONDS: Final = 1.0
MAX_CALLERS: Final = 10_000


@dataclass(slots=True)
class _Batch:
    """The hits of one key. `known` are those of all processes, as they were when this one last told of its own."""

    seconds: int
    known: int = 0
    untold: int = 0
    told_at: float | None = None
    is_being_told: bool = False


class HitBatches:
    """Counts as `count_hit` does, and asks it once for many hits.

    In this process the count is exact. Another one knows of all but the last few hits, which it is told of after
    `MAX_UNTOLD` of them, or with the next one a second later.
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
        """Further hits of a key; how many there are now. `tell` may do later what asks the shared counter."""
        now = time.monotonic()
        with self._lock:
            batch = self._batches.get(key)
            if batch is None:
                batch = self._batches[key] = _Batch(seconds)
            self._batches.move_to_end(key)
            batch.untold += hits
            due = {key: batch} if self._is_due(batch, now) else {}
            # Whoever does not come again is told of by somebody else: one at a time.
            oldest, other = next(iter(self._batches.items()))
            is_surplus = len(self._batches) > MAX_CALLERS and not other.is_being_told
            if oldest != key and (is_surplus or (other.untold and self._is_due(other, now))):
                due[oldest] = other
            for batch_due in due.values():
                batch_due.is_being_told = True
        for name in due:
            tell(partial(self._tell, name, is_last=name != key))
        return batch.known + batch.untold

    def has_room(self, key: str, limit: int) -> bool:
        """Whether one more hit of a key is within a limit, as far as is known of other processes; False where nothing
        is, as this one told them of none."""
        batch = self._batches.get(key)
        if batch is None or batch.told_at is None:
            return False
        return batch.known + batch.untold < limit

    def hand_over(self, key: str, hits: int = 1) -> None:
        """Leave the last hits of a key to somebody who counts them with `count_hit`, and knows of all others then."""
        with self._lock:
            batch = self._batches.get(key)
            if batch is None:
                return
            batch.untold -= hits  # below zero where they were told of already: they are taken back
        self._tell(key, is_last=False)

    def clear(self) -> None:
        with self._lock:
            self._batches.clear()

    @staticmethod
    def _is_due(batch: _Batch, now: float) -> bool:
        return not batch.is_being_told and (
            batch.told_at is None
            or batch.untold >= MAX_UNTOLD
            or now - batch.told_at >= TELL_SECONDS
        )

    def _tell(self, key: str, *, is_last: bool) -> None:
        with self._lock:
            batch = self._batches.get(key)
            if batch is None:
                return
            untold, batch.untold = batch.untold, 0
            batch.told_at = time.monotonic()
            batch.known += untold
        known = 0
        try:
            if untold:
                known = count_hit(key, batch.seconds, untold)
        finally:
            with self._lock:
                batch.known = max(batch.known, known)
                batch.is_being_told = False
                # Unless the caller came again meanwhile.
                if is_last and not batch.untold and next(iter(self._batches), None) == key:
                    del self._batches[key]


hit_batches: Final = HitBatches()
