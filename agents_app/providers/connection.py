"""A line to a provider: its connections and event loop, in a thread of their own.

Whoever asks waits in his own thread, where the database and the tools are, and can give up at any moment. The
library's model objects must not be shared between loops, so each question has its own line.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, wait
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self, TypeVar

import httpx2

from agents_app.providers.interface import ProviderError, ProviderStopped, ProviderTimeout
from agents_app.providers.request_failures import RequestFailure
from proofroom.core.http_client.connect import trusted

_T = TypeVar("_T")
_TICK: Final = 0.1
"""Seconds between two looks at whether to give up."""
_CONNECT_SECONDS: Final = 10.0
_CLOSING_SECONDS: Final = 1.0
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The most of one answer on the wire, be it of one event that has no end: the worker's memory is for all runs."""


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer, until they are too many."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        heard = 0
        async for part in self._stream:
            heard += len(part)
            if heard > MAX_ANSWER_BYTES:
                raise RequestFailure(ProviderError("The answer is too long."), worked=True)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class ProviderConnection:
    """Open while it is a context. `client` makes the connections; `seconds` later nobody waits any more."""

    def __init__(self, provider: str, seconds: float, stopped: Event) -> None:
        self._provider = provider
        self._deadline = time.monotonic() + seconds
        self._stopped = stopped
        # Reading the authorities takes longer than all else here: once for the process.
        self.client = httpx2.AsyncClient(
            verify=trusted(),
            timeout=httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            # What is packed can be any size.
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_bound]},
        )
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name=f"line-{provider}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        closing = asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop)
        wait([closing], _CLOSING_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSING_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    def seconds_left(self) -> float:
        return self._deadline - time.monotonic()

    def wait(self, work: Coroutine[None, None, _T], tick: Callable[[], None] | None = None) -> _T:
        """The result of work on the loop. Calls `tick` meanwhile, whose error gives the work up, too.

        Raises `ProviderTimeout` at the deadline and `ProviderStopped` where somebody said stop.
        """
        future: Future[_T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not future.done():
                self.check()
                wait([future], min(_TICK, max(self.seconds_left(), 0.0)))
                if tick is not None:
                    tick()
            return future.result()
        finally:
            future.cancel()

    def pause(self, seconds: float) -> None:
        """Wait, unless the deadline comes first or somebody says stop."""
        self._stopped.wait(min(seconds, max(self.seconds_left(), 0.0)))
        self.check()

    def check(self) -> None:
        """Raise where there is no more time, or somebody said stop."""
        if self._stopped.is_set():
            raise ProviderStopped("The run was stopped.")
        if self.seconds_left() <= 0:
            raise ProviderTimeout(f"{self._provider} did not answer in time.")

    async def _hang_up(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.client.aclose()
        await self._loop.shutdown_asyncgens()
