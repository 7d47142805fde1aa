"""A connection to a provider: its HTTP client and event loop, in a separate thread.

The caller waits in its own thread, where the database and the tools are, and can stop waiting at
any moment. The library's model objects must not be shared between loops, so each question opens its
own connection.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, wait
from dataclasses import dataclass
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self, TypeVar

import httpx2

from agents_app.providers.interface import (
    ProviderError,
    ProviderStopped,
    ProviderTimeout,
)
from proofroom.core.http_client.connection import trusted


@dataclass(eq=False, slots=True)
class RequestFailure(Exception):
    """A failed request. The library's message may quote the provider, including the key, and is not
    passed on.

    `again`: the same request may succeed later. `after`: seconds the provider asked to wait.
    `worked`: the provider may have done the work and charge for it. `is_outage`: see `ProviderError`.
    """

    error: ProviderError
    again: bool = False
    after: float | None = None
    worked: bool = False
    is_outage: bool = False

    def __post_init__(self) -> None:
        self.error.worked = self.worked
        self.error.is_outage = self.is_outage


_T = TypeVar("_T")
_TICK: Final = 0.1
"""Seconds between two checks for cancellation."""
_CONNECT_SECONDS: Final = 10.0
_CLOSING_SECONDS: Final = 1.0
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of one answer, even if it is a single event. All runs share the worker's memory."""


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer, up to the maximum."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for part in self._stream:
            received += len(part)
            if received > MAX_ANSWER_BYTES:
                raise RequestFailure(ProviderError("The answer is too long."), worked=True)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class ProviderConnection:
    """A context manager for the connection. `client` sends the requests; after `seconds` every wait ends."""

    def __init__(self, provider: str, seconds: float, stopped: Event) -> None:
        self._provider = provider
        self._deadline = time.monotonic() + seconds
        self._stopped = stopped
        # Loading the CA certificates is the slowest part, so the SSL context is shared by the
        # process.
        self.client = httpx2.AsyncClient(
            verify=trusted(),
            timeout=httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            # No compression, because a small compressed answer can expand to any size.
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_bound]},
        )
        self._loop = asyncio.new_event_loop()
        # A daemon, so that a hanging provider cannot keep the process from ending.
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
        # A loop that still runs cannot be closed; its daemon thread then ends with the process.
        if not self._thread.is_alive():
            self._loop.close()

    def seconds_left(self) -> float:
        return self._deadline - time.monotonic()

    def wait(self, work: Coroutine[None, None, _T], tick: Callable[[], None] | None = None) -> _T:
        """Return the result of a coroutine run on the loop. Calls `tick` meanwhile; its exceptions
        cancel the work.

        Raises `ProviderTimeout` at the deadline and `ProviderStopped` after `stop`.
        """
        future: Future[_T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not future.done():
                self.check()
                # Short waits instead of one long one, to notice a stop and to report progress.
                wait([future], min(_TICK, max(self.seconds_left(), 0.0)))
                if tick is not None:
                    tick()
            return future.result()
        finally:
            # No effect on a finished coroutine; otherwise it stops the request.
            future.cancel()

    def pause(self, seconds: float) -> None:
        """Wait. Raises like `check` at the deadline or after `stop`."""
        self._stopped.wait(min(seconds, max(self.seconds_left(), 0.0)))
        self.check()

    def check(self) -> None:
        """Raise `ProviderStopped` after `stop`, and `ProviderTimeout` after the deadline."""
        if self._stopped.is_set():
            raise ProviderStopped("The run was stopped.")
        if self.seconds_left() <= 0:
            raise ProviderTimeout(f"{self._provider} did not answer in time.")

    async def _hang_up(self) -> None:
        # Tasks still pending would use the client after it is closed.
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.client.aclose()
        await self._loop.shutdown_asyncgens()
