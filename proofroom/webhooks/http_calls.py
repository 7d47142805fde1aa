"""HTTP calls to receivers, in parallel, in their own thread, so that no database work waits for a receiver."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from threading import Event, Thread
from types import TracebackType
from typing import Final

from django.utils import timezone

from proofroom.core.http_client import CallRefused, Client, HttpResult, Unreachable
from proofroom.core.observability.operations import OperationKind, measure
from proofroom.core.observability.work_ids import bind_ids
from proofroom.webhooks.delivery_channels import OutgoingRequest, request_headers
from proofroom.webhooks.models import Delivery

logger = logging.getLogger(__name__)
CALL_SECONDS = 10.0
"""Seconds one call may take in total."""
MAX_CALLS_PER_CHANNEL: Final = 8
"""Parallel calls of one channel."""
GRACE_SECONDS = 5.0
_FAILED_HERE: Final = "The call failed here; the log says more."


@dataclass(frozen=True, slots=True)
class Call:
    delivery: Delivery
    outgoing: OutgoingRequest


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that has ended. `headers`: the headers sent."""

    delivery: Delivery
    outgoing: OutgoingRequest
    at: datetime
    ms: int
    headers: dict[str, str] = field(repr=False)
    came: HttpResult | CallRefused | Unreachable

    @property
    def answer(self) -> HttpResult | None:
        return self.came if isinstance(self.came, HttpResult) else None


class CallThread:
    """A context manager that makes calls in its thread and returns the ended ones."""

    def __init__(self) -> None:
        self._ended: SimpleQueue[EndedCall] = SimpleQueue()
        self._ready = Event()
        self._thread = Thread(target=self._run, name="webhooks-calls", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._channels: dict[str, asyncio.Semaphore] = {}

    def __enter__(self) -> CallThread:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        # Unfinished calls are cancelled first. Their claims run out, and another sender tries them again.
        self._thread.join()

    def send(self, calls: Sequence[Call]) -> None:
        """Start these calls, in order within each channel. Calls beyond the channel's limit wait here."""
        if self._loop is None:
            raise RuntimeError("The thread of the calls did not start.")
        if calls:
            # Tasks must be created in the thread of the event loop.
            self._loop.call_soon_threadsafe(self._begin, calls)

    def ended(self, seconds: float) -> list[EndedCall]:
        """Return the ended calls. Wait up to `seconds` if there are none."""
        found: list[EndedCall] = []
        try:
            # Wait for the first one only, so that outcomes are stored soon.
            found.append(self._ended.get(timeout=seconds))
            while True:
                found.append(self._ended.get_nowait())
        except Empty:
            return found

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            # Set after a failed start, too: otherwise `__enter__` would wait forever.
            self._ready.set()

    async def _serve(self) -> None:
        async with Client() as client:
            self._client = client
            self._stop = asyncio.Event()
            self._loop = asyncio.get_running_loop()
            self._ready.set()
            await self._stop.wait()
            for call in self._calls:
                call.cancel()
            await asyncio.gather(*self._calls, return_exceptions=True)

    def _begin(self, calls: Sequence[Call]) -> None:
        for call in calls:
            task = asyncio.ensure_future(self._make(call))
            # The event loop holds only weak references to tasks.
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _make(self, call: Call) -> None:
        """Wait for the call's turn in its channel, make it, and report its end, also after errors."""
        async with self._channels.setdefault(
            call.delivery.lane, asyncio.Semaphore(MAX_CALLS_PER_CHANNEL)
        ):
            at = timezone.now()
            started = time.monotonic()
            request, headers = call.outgoing, dict[str, str]()
            receiver = call.delivery.lane.partition(":")[0]
            came: HttpResult | CallRefused | Unreachable = Unreachable(_FAILED_HERE)
            try:
                headers = request_headers(call.delivery, request, at)
                with (
                    bind_ids({"cause_id": call.delivery.event_id}),
                    measure(OperationKind.DELIVERY, receiver) as measured,
                ):
                    came = await self._send(request, headers)
                    measured.outcome = (
                        f"{came.status // 100}xx" if isinstance(came, HttpResult) else "no answer"
                    )
            except Exception:  # the sender waits for the end of every call
                logger.exception("a call of the channel failed")
            ms = round((time.monotonic() - started) * 1000)
            self._ended.put(EndedCall(call.delivery, request, at, ms, headers, came))

    async def _send(
        self, request: OutgoingRequest, headers: dict[str, str]
    ) -> HttpResult | CallRefused | Unreachable:
        try:
            # The client has its own timeout. This one protects the claim if that should fail.
            async with asyncio.timeout(CALL_SECONDS + GRACE_SECONDS):
                return await self._client.send(
                    request.method,
                    request.url,
                    headers=headers,
                    body=request.body,
                    seconds=CALL_SECONDS,
                )
        except (CallRefused, Unreachable) as error:
            return error
        except TimeoutError:
            return Unreachable("The address did not answer in time.")
        except Exception:  # an unexpected error in one call must not end the others
            logger.exception("a call of the channel failed")
            return Unreachable(_FAILED_HERE)
