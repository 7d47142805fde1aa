"""Values that a process builds once, even if several threads need them at the same time."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import TypeVar

T = TypeVar("T")


def once(build: Callable[[], T]) -> Callable[[], T]:
    """Build the value at the first call, and return the same value afterwards.

    With `functools.cache` two threads may both build it. That is harmless for plain values. Use this for code that
    opens a file, starts a thread or registers something.
    """
    lock = RLock()
    built: list[T] = []

    @wraps(build)
    def get() -> T:
        if not built:
            with lock:
                # Another thread may have built it before this one got the lock.
                if not built:
                    built.append(build())
        return built[0]

    return get
