"""Progress and cancellation of slow tools, between a tool's thread and the event loop.

The thread never waits for the client: a client that does not read its progress must not block a
thread or a transaction.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple, Protocol

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from proofroom.core.progress import CallCancelled

_MAX_QUEUED_STEPS: Final = 32
"""Maximum steps that wait for a slow client; further ones are dropped."""


class ProgressSession(Protocol):
    """Sends a step to the client, if the client sent a progress token."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...


class _Step(NamedTuple):
    done: float
    total: float | None
    message: str | None


class CallFollower:
    """Follows one call. `has_begun`: the tool has started, instead of waiting for a thread."""

    def __init__(self, steps: MemoryObjectSendStream[_Step]) -> None:
        self._loop = asyncio.get_running_loop()
        self._steps = steps
        # Below every value, so that a first step of 0 is sent.
        self._done = float("-inf")
        self._cancelled = threading.Event()
        self.has_begun = False

    def report(self, done: float, total: float | None, message: str) -> None:
        """Report a step, from the thread. Only increasing values are sent, as the protocol requires."""
        if done <= self._done:
            return
        self._done = done
        with suppress(RuntimeError):  # the loop and the server have ended
            self._loop.call_soon_threadsafe(self._offer, _Step(done, total, message or None))

    def check(self) -> None:
        """Raise `CallCancelled` if the client has cancelled. Called from the thread."""
        self.has_begun = True
        if self._cancelled.is_set():
            raise CallCancelled

    def cancel(self) -> None:
        """Make the tool stop at its next check. Called from the event loop."""
        self._cancelled.set()

    def _offer(self, step: _Step) -> None:
        try:
            self._steps.send_nowait(step)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return


@asynccontextmanager
async def follow_call(session: ProgressSession) -> AsyncIterator[CallFollower]:
    """Follow the call in the block. All steps are sent before the block ends, and so before the answer."""
    offered, received = anyio.create_memory_object_stream[_Step](_MAX_QUEUED_STEPS)
    follower = CallFollower(offered)

    async def report_steps() -> None:
        try:
            async with received:
                async for step in received:
                    await session.report_progress(*step)
        except anyio.get_cancelled_exc_class():
            # A thread cannot be interrupted, so the tool checks for cancellation.
            follower.cancel()
            raise

    async with anyio.create_task_group() as group, offered:
        group.start_soon(report_steps)
        yield follower
