"""Reads that an event loop asks itself: none of them waits for long, and none opens a connection.

A thread for each read costs its caller more CPU time than the read. What cannot be had at once is left to a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_longest_wait: ContextVar[float | None] = ContextVar("longest_wait", default=None)


class WouldBlock(Exception):
    """The event loop would have to wait: a thread has to ask. Nothing was changed."""


@contextmanager
def reading_on_event_loop(seconds: float) -> Iterator[None]:
    """Wait for no statement in the block longer than that.

    Raises `WouldBlock` where that is not enough, and Django's `SynchronousOnlyOperation` for what needs a cursor.
    """
    token = _longest_wait.set(seconds)
    try:
        yield
    finally:
        _longest_wait.reset(token)


def longest_wait() -> float | None:
    """How many seconds a statement may be waited for; None in a thread, which waits as long as it takes."""
    return _longest_wait.get()


def leave_event_loop() -> None:
    """Leave what may take long to a thread: raises `WouldBlock` on an event loop."""
    if _longest_wait.get() is not None:
        raise WouldBlock
