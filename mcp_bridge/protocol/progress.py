"""Progress and cancellation of a tool that takes long: between the thread that it runs on and the event loop.

The thread never waits for the client: a caller who asked for progress and reads none of it must not hold a thread,
or a transaction, open.
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
"""Steps that wait for a slow reader; further ones are left out."""


class ProgressSession(Protocol):
    """Sends a step to the client, if it gave a token to send it under."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...


class _Step(NamedTuple):
    done: float
    total: float | None
    message: str | None


class CallFollower:
    """Follows one call. `has_begun` once the tool asked for it, which a call that waits for a thread has not."""

    def __init__(self, steps: MemoryObjectSendStream[_Step]) -> None:
        self._loop = asyncio.get_running_loop()
        self._steps = steps
        self._done = float("-inf")
        self._cancelled = threading.Event()
        self.has_begun = False

    def report(self, done: float, total: float | None, message: str) -> None:
        """From the thread: the next step. The protocol wants each to be further than the one before."""
        if done <= self._done:
            return
        self._done = done
        with suppress(RuntimeError):  # the loop has ended, and the server with it
            self._loop.call_soon_threadsafe(self._offer, _Step(done, total, message or None))

    def check(self) -> None:
        """From the thread: raise `CallCancelled` when the caller has cancelled."""
        self.has_begun = True
        if self._cancelled.is_set():
            raise CallCancelled

    def cancel(self) -> None:
        """From the event loop: the tool stops at its next check."""
        self._cancelled.set()

    def _offer(self, step: _Step) -> None:
        try:
            self._steps.send_nowait(step)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return


@asynccontextmanager
async def follow_call(session: ProgressSession) -> AsyncIterator[CallFollower]:
    """A follower for the call in the block. Every step is sent before the block ends, so before the answer."""
    offered, taken = anyio.create_memory_object_stream[_Step](_MAX_QUEUED_STEPS)
    follower = CallFollower(offered)

    async def report_steps() -> None:
        try:
            async with taken:
                async for step in taken:
                    await session.report_progress(*step)
        except anyio.get_cancelled_exc_class():
            # The thread cannot be interrupted: it looks for itself.
            follower.cancel()
            raise

    async with anyio.create_task_group() as group, offered:
        group.start_soon(report_steps)
        yield follower
