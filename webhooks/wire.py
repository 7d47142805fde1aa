"""The calls themselves, all at once, in a thread of their own: who keeps the books never waits for a receiver."""

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

from core.outgoing import Answer, Client, Refused, Unreachable
from webhooks.bodies import headers_of
from webhooks.lanes import Outgoing
from webhooks.models import Delivery

logger = logging.getLogger(__name__)
SECONDS = 10.0
"""That one call may take in all."""
PER_LANE: Final = 8
"""Calls of one lane that are under way at once."""
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Call:
    delivery: Delivery
    outgoing: Outgoing


@dataclass(frozen=True, slots=True)
class Ended:
    """One call that is over. `headers` are what went along."""

    delivery: Delivery
    outgoing: Outgoing
    at: datetime
    ms: int
    headers: dict[str, str] = field(repr=False)
    came: Answer | Refused | Unreachable

    @property
    def answer(self) -> Answer | None:
        return self.came if isinstance(self.came, Answer) else None


class Wire:
    """`with Wire() as wire:` sends what it is given, and answers what ended."""

    def __init__(self) -> None:
        self._ended: SimpleQueue[Ended] = SimpleQueue()
        self._ready = Event()
        self._thread = Thread(target=self._run, name="webhooks-wire", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._lanes: dict[str, asyncio.Semaphore] = {}

    def __enter__(self) -> Wire:
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
        self._thread.join()

    def send(self, calls: Sequence[Call]) -> None:
        """Make these calls, in each lane in their order; what is too many at once waits for its turn here."""
        if self._loop is None:
            raise RuntimeError("The thread of the calls did not start.")
        if calls:
            self._loop.call_soon_threadsafe(self._begin, calls)

    def ended(self, seconds: float) -> list[Ended]:
        """What is over by now; waits that long at most where nothing is."""
        found: list[Ended] = []
        try:
            found.append(self._ended.get(timeout=seconds))
            while True:
                found.append(self._ended.get_nowait())
        except Empty:
            return found

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
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
            task = asyncio.ensure_future(self._in_turn(call))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _in_turn(self, call: Call) -> None:
        async with self._lanes.setdefault(call.delivery.lane, asyncio.Semaphore(PER_LANE)):
            await self._make(call)

    async def _make(self, call: Call) -> None:
        at = timezone.now()
        begun = time.monotonic()
        headers = headers_of(call.delivery, call.outgoing, at)
        came = await self._answer(call.outgoing, headers)
        ms = round((time.monotonic() - begun) * 1000)
        self._ended.put(Ended(call.delivery, call.outgoing, at, ms, headers, came))

    async def _answer(
        self, outgoing: Outgoing, headers: dict[str, str]
    ) -> Answer | Refused | Unreachable:
        try:
            # The client keeps the time itself; a claim must not run out should it ever not.
            async with asyncio.timeout(SECONDS + _GRACE):
                return await self._client.send(
                    outgoing.method,
                    outgoing.url,
                    headers=headers,
                    body=outgoing.body,
                    seconds=SECONDS,
                )
        except (Refused, Unreachable) as error:
            return error
        except TimeoutError:
            return Unreachable("The address did not answer in time.")
        except Exception:  # one call that fails in a way nobody thought of must not end the others
            logger.exception("a call of the lane failed")
            return Unreachable("The call failed here; the log says more.")
