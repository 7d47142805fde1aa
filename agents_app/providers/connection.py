"""A connection to a provider: its HTTP client and event loop, in a separate thread.

The caller waits in its own thread, where the database and the tools are, and can stop waiting at
any moment. The library's model objects must not be shared between loops, so each question opens its
own connection.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, wait
from dataclasses import dataclass
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self, TypeVar

import httpx2
from pydantic_ai import exceptions

from agents_app.providers.interface import (
    ProviderChoice,
    ProviderError,
    ProviderStopped,
    ProviderTimeout,
)
from proofroom.core.http_client.connection import trusted

logger = logging.getLogger(__name__)
_E = TypeVar("_E", bound=BaseException)
_AGAIN: Final = frozenset({408, 409, 425, 429})


@dataclass(eq=False, slots=True)
class RequestFailure(Exception):
    """A failed request. The library's message may quote the provider, including the key, and is not
    passed on.

    `again`: the same request may succeed later. `after`: seconds the provider asked to wait.
    `worked`: the provider may have done the work and charge for it.
    """

    error: ProviderError
    again: bool = False
    after: float | None = None
    worked: bool = False

    def __post_init__(self) -> None:
        self.error.worked = self.worked


def failed(error: Exception, choice: ProviderChoice) -> RequestFailure:
    """Return the failure for a request's error."""
    name = choice.provider
    # Raised by `_Bounded` within the request, and wrapped by the library.
    known = _cause(error, RequestFailure)
    if known is not None:
        return known
    if isinstance(error, exceptions.ModelHTTPError):
        return _failed_with_status(error, choice)
    # Transport errors are wrapped by the library; they are the most precise cause.
    lost = _cause(error, httpx2.TransportError)
    # The request was never sent, so the provider cannot have worked.
    if isinstance(lost, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        sentence = f"{name} could not be reached. Check its address and this server's way out."
        return RequestFailure(ProviderError(sentence), again=True)
    if isinstance(lost, httpx2.TimeoutException):
        return RequestFailure(ProviderTimeout(f"{name} did not answer in time."), worked=True)
    if lost is not None or isinstance(error, exceptions.ModelConnectionError):
        return broken_off(choice)
    if isinstance(error, exceptions.ContentFilterError):
        return refused(choice)
    if isinstance(error, exceptions.ModelAPIError):
        return unreadable(choice)
    if isinstance(error, exceptions.UnexpectedModelBehavior):
        return broken_off(choice)
    if isinstance(error, exceptions.UserError):
        return RequestFailure(
            ProviderError(f"{name} cannot be used with the model {choice.model}.")
        )
    logger.warning("An answer of %s could not be read: %s", name, type(error).__name__)
    return unreadable(choice)


def broken_off(choice: ProviderChoice) -> RequestFailure:
    """Return the failure of an answer without its end, none of which is used."""
    sentence = f"The answer of {choice.provider} broke off before its end. Nothing of it was used."
    return RequestFailure(ProviderError(sentence), again=True, worked=True)


def unreadable(choice: ProviderChoice) -> RequestFailure:
    """Return the failure of an answer that is not in the provider's format."""
    sentence = f"{choice.provider} answered with something that cannot be read."
    return RequestFailure(ProviderError(sentence), worked=True)


def refused(choice: ProviderChoice) -> RequestFailure:
    """Return the failure of a model or its filter that refuses to answer."""
    sentence = f"{choice.provider} refused to answer because of its safety rules or content filter."
    return RequestFailure(ProviderError(sentence), worked=True)


def cut_off(choice: ProviderChoice) -> RequestFailure:
    """Return the failure of an answer that reached its token limit."""
    sentence = (
        f"The answer of {choice.provider} was cut off; raise maxTokens in the agent's options."
    )
    return RequestFailure(ProviderError(sentence), worked=True)


def retry_after_too_long(seconds: float, choice: ProviderChoice) -> ProviderError:
    """Return the error of a provider that asks to wait longer than the run may take."""
    wait = f"{seconds:.0f} seconds" if seconds < 86_400 else "more than a day"
    return ProviderError(
        f"{choice.provider} refused the request: too many requests (429). "
        f"It asks to wait {wait}, which is longer than this run may take."
    )


def _failed_with_status(error: exceptions.ModelHTTPError, choice: ProviderChoice) -> RequestFailure:
    status = error.status_code
    if isinstance(error, exceptions.ModelContextWindowExceededError):
        sentence = f"This is more text than {choice.model} can read at once ({status})."
        return RequestFailure(ProviderError(sentence))
    if isinstance(error, exceptions.ModelQuotaExceededError):
        sentence = f"The quota or credit at {choice.provider} is used up ({status})."
        return RequestFailure(ProviderError(sentence))
    name = choice.provider
    if status in (401, 403):
        sentence = (
            f"{name} refused the API key ({status}). Check AI_PROVIDER_{name.upper()}_API_KEY."
        )
    elif status == 404:
        sentence = f"{name} knows no model {choice.model!r} at this address (404)."
    elif status == 429:
        sentence = f"{name} refused the request: too many requests, or the quota is used up (429)."
    elif status >= 500:
        sentence = f"{name} failed ({status}). Try again later."
    else:
        sentence = f"{name} refused the request ({status}); model {choice.model}."
    return RequestFailure(
        ProviderError(sentence),
        again=status in _AGAIN or status >= 500,
        after=error.retry_after,
        worked=error.in_stream,
    )


def _cause(error: BaseException | None, kind: type[_E]) -> _E | None:
    """Return the first exception of that type among an error and its causes."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error


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
