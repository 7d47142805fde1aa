"""What a process builds once, however many of its threads ask for it first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import TypeVar

T = TypeVar("T")


def once(build: Callable[[], T]) -> Callable[[], T]:
    """Build the value at the first call, and return the same from then on.

    `functools.cache` lets two threads build at the same time. That does no harm where a value is only read; what
    opens a file, starts a thread or registers itself needs this.
    """
    lock = RLock()
    built: list[T] = []

    @wraps(build)
    def get() -> T:
        if not built:
            with lock:
                if not built:
                    built.append(build())
        return built[0]

    return get
