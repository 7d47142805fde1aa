"""Progress of a long tool: reported by the tool, shown by the face that called it.

A tool says `report(3, 10, "de")` and asks `check_cancelled()` between its steps. Where nobody follows, as in an
agent's run, both do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class CallCancelled(BaseException):
    """The caller does not wait any more. No `Exception`: a tool that goes on after one item failed stops at this."""


class Follower(Protocol):
    """Follows the progress of a call. `check` raises `CallCancelled` when the caller has cancelled the call."""

    def report(self, done: float, total: float | None, message: str) -> None: ...

    def check(self) -> None: ...


_follower: ContextVar[Follower | None] = ContextVar("tool_follower", default=None)


@contextmanager
def follow_progress(follower: Follower) -> Iterator[None]:
    """Within the block the tool tells `follower`."""
    token = _follower.set(follower)
    try:
        yield
    finally:
        _follower.reset(token)


def report(done: float, total: float | None = None, message: str = "") -> None:
    """Say that `done` of `total` steps are over, the latest about `message`."""
    follower = _follower.get()
    if follower is not None:
        follower.report(done, total, message)


def check_cancelled() -> None:
    """Raise `CallCancelled` when the caller has cancelled; what the transaction around wrote is undone."""
    follower = _follower.get()
    if follower is not None:
        follower.check()
