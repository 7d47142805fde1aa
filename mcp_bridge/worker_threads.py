"""Worker threads for synchronous work (the ORM, the tools), used from the event loop.

A bounded pool of threads, each call between two `close_old_connections()`: without the bound every
client would take its own database connection, without closing a connection would never return to
the pool.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")

# Each uses a database connection while it works.
DATABASE_THREADS = 6
# Two credentials with slow calls must leave threads to the others.
DATABASE_PER_CREDENTIAL: Final = 2
WAITING_THREADS = 4
WAITING_PER_CREDENTIAL: Final = 3
APART_THREADS = 2


class SharedThreads:
    """A thread pool of which one credential can use only a part."""

    def __init__(self, threads: int, per_credential: int) -> None:
        self.limiter = anyio.CapacityLimiter(threads)
        self._per_credential = per_credential
        # Weak, so that limiters of inactive credentials are removed.
        self._shares = WeakValueDictionary[str, anyio.CapacityLimiter]()

    def share_of(self, credential: str) -> anyio.CapacityLimiter:
        """Return the limiter to hold while a thread works for the credential."""
        return self._shares.setdefault(credential, anyio.CapacityLimiter(self._per_credential))


class Workers:
    """The threads of one server. `waiting` is for tools that wait for other systems, so that a few
    agent runs do not block all other calls.

    The setting `MCP_DB_EXECUTOR = "sensitive"` runs the work on the main thread instead, inside the
    transaction of a test.
    """

    def __init__(self) -> None:
        self._database = SharedThreads(DATABASE_THREADS, DATABASE_PER_CREDENTIAL)
        self._waiting = SharedThreads(WAITING_THREADS, WAITING_PER_CREDENTIAL)
        self._apart = anyio.CapacityLimiter(APART_THREADS)

    async def run(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run quick `work` and return its result."""
        return await self._run(self._database.limiter, partial(work, *args, **kwargs))

    async def run_waiting(
        self, whose: str, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run `work` that may wait long for other systems. `whose`: the credential it is done for."""
        # The share first: a credential must not occupy the pool's queue while waiting for its own
        # share.
        async with self._waiting.share_of(whose):
            return await self._run(self._waiting.limiter, partial(work, *args, **kwargs))

    async def run_for(
        self, whose: str, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run `work` that is quick unless the database waits, for example for a lock. `whose`: as in
        `run_waiting`.
        """
        async with self._database.share_of(whose):
            return await self._run(self._database.limiter, partial(work, *args, **kwargs))

    async def run_apart(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work` that must not queue behind calls, such as authentication."""
        return await self._run(self._apart, partial(work, *args, **kwargs))

    async def _run(self, limiter: anyio.CapacityLimiter, work: Callable[[], R]) -> R:
        if getattr(settings, "MCP_DB_EXECUTOR", "threads") == "sensitive":
            return await sync_to_async(work, thread_sensitive=True)()
        return await anyio.to_thread.run_sync(_close_connections_around, work, limiter=limiter)


def _close_connections_around(work: Callable[[], R]) -> R:
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()
