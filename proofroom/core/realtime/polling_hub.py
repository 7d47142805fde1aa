"""Tells the open pages of a process: one task, which looks once at a time however many they are."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from django.conf import settings

from proofroom.core.realtime.open_page import OpenPage

logger = logging.getLogger(__name__)
CHECK_SECONDS: Final = 2.0
"""How often pages are looked at that nothing is told to: who was logged out must not stay connected."""
Page = TypeVar("Page", bound=OpenPage)


class PageHub(ABC, Generic[Page]):
    """The pages of this process that follow one thing."""

    most_pages: ClassVar[int]
    most_pages_of_one: ClassVar[int]

    def __init__(self) -> None:
        self._pages: set[Page] = set()
        self._wake = asyncio.Event()
        self._is_failing = False

    @abstractmethod
    async def turn(self, pages: Sequence[Page]) -> None:
        """Look once, and tell these pages what is new."""

    def join(self, page: Page) -> bool:
        """Tell it from now on; False where too many are open."""
        own = [one for one in self._pages if one.ticket.user_id == page.ticket.user_id]
        if len(own) >= self.most_pages_of_one or len(self._pages) >= self.most_pages:
            return False
        self._pages.add(page)
        self._wake.set()
        return True

    def leave(self, page: Page) -> None:
        self._pages.discard(page)
        self._wake.set()

    async def run(self) -> None:
        """Until the last page is closed."""
        while self._pages:
            self._wake.clear()
            try:
                await self.turn(list(self._pages))
                self._is_failing = False
            except Exception:  # a database that is away for a moment ends no connection
                if not self._is_failing:
                    logger.exception("open pages are told nothing until this works again")
                self._is_failing = True
            self._pages = {page for page in self._pages if not page.has_ended}
            try:
                await asyncio.wait_for(self._wake.wait(), settings.LIVE_POLL_SECONDS)
            except TimeoutError:
                continue


class Hubs(Generic[Page]):
    """A hub in each event loop; its task starts with the first page and ends with the last."""

    def __init__(self, make: Callable[[], PageHub[Page]]) -> None:
        self._make = make
        self.at_work: dict[asyncio.AbstractEventLoop, tuple[PageHub[Page], asyncio.Task[None]]] = {}

    def here(self) -> PageHub[Page]:
        """The hub of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self.at_work:
            made = self._make()
            # It begins when the caller waits, and has joined by then.
            self.at_work[loop] = made, loop.create_task(self._run(made, loop))
        return self.at_work[loop][0]

    async def _run(self, made: PageHub[Page], loop: asyncio.AbstractEventLoop) -> None:
        try:
            await made.run()
        finally:
            self.at_work.pop(loop, None)
