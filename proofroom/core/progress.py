"""Progress of long-running tools: reported by the tool, shown by the interface that called it.

A tool calls `report(3, 10, "de")` and `check_cancelled()` between its steps. Without a follower, as in an agent's
run, both do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class CallCancelled(BaseException):
    """The caller has cancelled the call.

    Derived from `BaseException`, so that tools that continue after errors stop.
    """


class Follower(Protocol):
    """Receives the progress of a call. `check` raises `CallCancelled` after the caller has cancelled it."""

    def report(self, done: float, total: float | None, message: str) -> None: ...

    def check(self) -> None: ...


_follower: ContextVar[Follower | None] = ContextVar("tool_follower", default=None)


@contextmanager
def follow_progress(follower: Follower) -> Iterator[None]:
    """Report the progress of tools in the block to `follower`."""
    token = _follower.set(follower)
    try:
        yield
    finally:
        _follower.reset(token)


def report(done: float, total: float | None = None, message: str = "") -> None:
    """Report that `done` of `total` steps are finished. `message` describes the latest one."""
    follower = _follower.get()
    if follower is not None:
        follower.report(done, total, message)


def check_cancelled() -> None:
    """Raise `CallCancelled` if the caller has cancelled. The surrounding transaction is rolled back."""
    follower = _follower.get()
    if follower is not None:
        follower.check()
