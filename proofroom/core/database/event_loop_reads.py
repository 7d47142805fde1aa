"""Database reads on an event loop that neither block for long nor open a connection.

Reading in a thread costs more CPU time than the read itself. A read that would block is moved to a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_max_wait: ContextVar[float | None] = ContextVar("longest_wait", default=None)


class WouldBlock(Exception):
    """The read would block the event loop and must run in a thread. Nothing was changed."""


@contextmanager
def reading_on_event_loop(seconds: float) -> Iterator[None]:
    """Limit how long statements in the block may take.

    Raises `WouldBlock` if that is not enough, and Django's `SynchronousOnlyOperation` for statements that need a
    cursor.
    """
    token = _max_wait.set(seconds)
    try:
        yield
    finally:
        _max_wait.reset(token)


def longest_wait() -> float | None:
    """Return the seconds that a statement may take; None in a thread, where there is no limit."""
    return _max_wait.get()


def require_thread() -> None:
    """Raise `WouldBlock` on an event loop, so that the caller continues in a thread."""
    if _max_wait.get() is not None:
        raise WouldBlock
