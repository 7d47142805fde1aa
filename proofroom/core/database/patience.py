"""Reads that may be asked from an event loop: none of them waits for long, and none opens a connection.

A thread for each read costs its caller more CPU time than the read. What cannot be had at once is asked by a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_seconds: ContextVar[float | None] = ContextVar("patience", default=None)


class NotAtOnce(Exception):
    """The database did not answer in time, or no connection was free. Nothing was changed."""


def patience() -> float | None:
    """How many seconds a statement may be waited for; None for as long as it takes."""
    return _seconds.get()


@contextmanager
def at_once(seconds: float) -> Iterator[None]:
    """Wait for no statement in the block longer than that.

    Raises `NotAtOnce` where that is not enough, and Django's `SynchronousOnlyOperation` for what needs a cursor.
    """
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


def require_time() -> None:
    """Leave what may take long to a thread. Raises `NotAtOnce` in a block of `at_once`."""
    if _seconds.get() is not None:
        raise NotAtOnce
