"""A log that tells of what many requests meet, and not of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock


class OnceAMinute:
    """Says for one thing of many alike whether it is the first in a minute of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None
        self._lock = Lock()

    def is_due(self) -> bool:
        """Whether a minute has passed since this was last true."""
        with self._lock:
            now = self._clock()
            if self._last is not None and now - self._last < 60:
                return False
            self._last = now
            return True
