"""One task in a process follows all runs that open pages show: however many there are, it looks once at a time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import translation

from agents_app.models import AgentRun, RunStep
from agents_app.progress.reading import mark_of, progress, runs_at_work, steps_of
from core.json import JsonObject
from core.live.holders import Ticket, holders
from core.live.listener import NOT_LET_IN, TOO_SLOW

logger = logging.getLogger(__name__)
MOST_PAGES: Final = 1000
MOST_PAGES_OF_ONE: Final = 20
MOST_WAITING: Final = 50
CHECK_SECONDS: Final = 2.0
"""How often pages are looked at that nothing is told to: who was logged out must not stay connected."""
NOT_THERE: Final = 4404
ENDED: Final = 1000


class Watcher:
    """An open page that shows a run. What the queue holds is a message, or the code to close with."""

    def __init__(self, ticket: Ticket, run_id: UUID, language: str) -> None:
        self.ticket = ticket
        self.run_id = run_id
        self.language = language
        self.mark: tuple[object, ...] | None = None
        self.has_ended = False
        self.queue: asyncio.Queue[JsonObject | int] = asyncio.Queue(MOST_WAITING + 1)

    def say(self, message: JsonObject) -> None:
        if self.has_ended:
            return
        if self.queue.qsize() >= MOST_WAITING:
            self.end(TOO_SLOW)
        else:
            self.queue.put_nowait(message)

    def end(self, code: int) -> None:
        """Close after what waits to be sent."""
        if not self.has_ended:
            self.has_ended = True
            self.queue.put_nowait(code)


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at the database found; `changed` are those with something new to say, who may hear it."""

    runs: dict[UUID, AgentRun]
    steps: dict[UUID, list[RunStep]]
    changed: Sequence[Watcher]
    refused: Sequence[Watcher]


class RunHub:
    """The pages of this process that follow runs."""

    def __init__(self) -> None:
        self._watchers: set[Watcher] = set()
        self._wake = asyncio.Event()
        self._check_at = 0.0
        self._is_failing = False

    def join(self, watcher: Watcher) -> bool:
        """Tell it from now on; False where too many are open."""
        own = [one for one in self._watchers if one.ticket.user_id == watcher.ticket.user_id]
        if len(own) >= MOST_PAGES_OF_ONE or len(self._watchers) >= MOST_PAGES:
            return False
        self._watchers.add(watcher)
        self._wake.set()
        return True

    def leave(self, watcher: Watcher) -> None:
        self._watchers.discard(watcher)
        self._wake.set()

    async def run(self) -> None:
        """Until the last page is closed."""
        while self._watchers:
            self._wake.clear()
            try:
                await self._turn()
                self._is_failing = False
            except Exception:  # a database that is away for a moment ends no connection
                if not self._is_failing:
                    logger.exception("pages that follow runs are told nothing until this works")
                self._is_failing = True
            try:
                await asyncio.wait_for(self._wake.wait(), settings.LIVE_POLL_SECONDS)
            except TimeoutError:
                continue

    async def _turn(self) -> None:
        watchers = list(self._watchers)
        is_due = time.monotonic() >= self._check_at
        found = await database_sync_to_async(look)(watchers, is_due)
        if is_due:
            self._check_at = time.monotonic() + CHECK_SECONDS
        tell(watchers, found)
        self._watchers -= {watcher for watcher in watchers if watcher.has_ended}


def look(watchers: Sequence[Watcher], is_due: bool) -> _Look:
    """One query; where there is something to tell, three more for all."""
    runs = runs_at_work({watcher.run_id for watcher in watchers})
    changed = [
        watcher
        for watcher in watchers
        if watcher.run_id in runs and mark_of(runs[watcher.run_id]) != watcher.mark
    ]
    asked = watchers if is_due else changed
    if not asked:
        return _Look(runs, {}, (), ())
    standing = holders({watcher.ticket for watcher in asked})
    refused = [watcher for watcher in asked if watcher.ticket not in standing]
    heard = [watcher for watcher in changed if watcher not in refused]
    steps = steps_of({watcher.run_id for watcher in heard}) if heard else {}
    return _Look(runs, steps, heard, refused)


def tell(watchers: Sequence[Watcher], found: _Look) -> None:
    """Pass on what was found, to each in its own language, and let go of what is over."""
    for watcher in found.refused:
        watcher.end(NOT_LET_IN)
    for watcher in found.changed:
        run = found.runs[watcher.run_id]
        watcher.mark = mark_of(run)
        with translation.override(watcher.language):
            watcher.say(progress(run, found.steps.get(run.pk, ())))
        if run.is_finished:
            watcher.end(ENDED)
    for watcher in watchers:
        if watcher.run_id not in found.runs:
            watcher.end(NOT_THERE)


_hubs: dict[asyncio.AbstractEventLoop, tuple[RunHub, asyncio.Task[None]]] = {}


def run_hub() -> RunHub:
    """The hub of the running event loop; its task starts with the first page and ends with the last."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        made = RunHub()
        # It begins when the caller waits, and has joined by then.
        _hubs[loop] = made, loop.create_task(_run(made, loop))
    return _hubs[loop][0]


async def _run(made: RunHub, loop: asyncio.AbstractEventLoop) -> None:
    try:
        await made.run()
    finally:
        _hubs.pop(loop, None)
