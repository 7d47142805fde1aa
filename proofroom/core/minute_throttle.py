"""Rate limiting of log records that many requests would repeat."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock


class MinuteTimer:
    """A timer that is due at most once a minute in this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None
        self._lock = Lock()

    def is_due(self) -> bool:
        """Return True at the first call and when a minute has passed since the last True."""
        with self._lock:
            now = self._clock()
            if self._last is not None and now - self._last < 60:
                return False
            self._last = now
            return True
