"""A websocket that tells an open page. Pages only listen: whoever sends something is disconnected."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import ClassVar, Generic

from channels.generic.websocket import AsyncJsonWebsocketConsumer

from proofroom.core.realtime.open_page import BAD_REQUEST, NOT_AUTHORIZED, TOO_MANY
from proofroom.core.realtime.polling_hub import Hubs, Page, PageHub
from proofroom.core.realtime.sessions import Ticket, ticket_of


class PageConsumer(AsyncJsonWebsocketConsumer, Generic[Page]):  # type: ignore[misc]  # channels has no types
    """Lets in who holds the permission, and sends what the hub says to the page."""

    permission: ClassVar[str]
    hubs: Hubs[Page]
    _hub: PageHub[Page] | None = None
    _page: Page | None = None
    _sending: asyncio.Task[None] | None = None

    def page_of(self, ticket: Ticket) -> Page:
        """The page that the address asks for. Raises `ValueError` where it makes no sense."""
        raise NotImplementedError

    async def connect(self) -> None:
        ticket = ticket_of(self.scope, self.permission)
        if ticket is None:
            await self.close(NOT_AUTHORIZED)
            return
        try:
            page = self.page_of(ticket)
        except ValueError:
            await self.close(BAD_REQUEST)
            return
        here = self.hubs.here()
        if not here.join(page):
            await self.close(TOO_MANY)
            return
        self._hub, self._page = here, page
        await self.accept()
        self._sending = asyncio.create_task(self._send_all(page))

    async def receive(self, *args: object, **kwargs: object) -> None:
        self._leave()
        if self._page is not None:
            self._page.end(BAD_REQUEST)

    async def disconnect(self, code: int) -> None:
        self._leave()
        if self._sending is not None:
            self._sending.cancel()

    def _leave(self) -> None:
        if self._hub is not None and self._page is not None:
            self._hub.leave(self._page)

    async def _send_all(self, page: Page) -> None:
        with suppress(OSError):  # the page is gone; the server says so in a message of its own
            # Waits while the page takes nothing; what is said meanwhile fills the queue, and no more.
            while isinstance(message := await page.queue.get(), dict):
                await self.send_json(message)
            await self.close(message)
