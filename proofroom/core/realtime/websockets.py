"""Websockets that tell open pages: from this site only, and refused while the database is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, ClassVar, Final, Generic
from urllib.parse import urlsplit

import orjson
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier

from proofroom.core.database.faults import (
    RETRY_AFTER_SECONDS,
    UNAVAILABLE,
    UNAVAILABLE_MESSAGE,
    is_database_away,
    log_database_away,
)
from proofroom.core.realtime.hub import (
    BAD_REQUEST,
    NOT_AUTHORIZED,
    TOO_MANY,
    Feed,
    Hub,
    Page,
    hub_here,
)
from proofroom.core.realtime.sessions import PageConnection, authorize


class PageConsumer(AsyncJsonWebsocketConsumer, Generic[Page]):  # type: ignore[misc]  # channels has no types
    """Lets in who holds the permission, and sends what the hub says to the page."""

    permission: ClassVar[str]
    feed: ClassVar[type[Feed[Any]]]
    _hub: Hub | None = None
    _page: Page | None = None
    _sending: asyncio.Task[None] | None = None

    def page_of(self, connection: PageConnection) -> Page:
        """The page that the address asks for. Raises `ValueError` where it makes no sense."""
        raise NotImplementedError

    async def connect(self) -> None:
        # A role that the site made is read from the database.
        connection = await database_sync_to_async(authorize)(self.scope, self.permission)
        if connection is None:
            await self.close(NOT_AUTHORIZED)
            return
        try:
            page = self.page_of(connection)
        except ValueError:
            await self.close(BAD_REQUEST)
            return
        hub = hub_here()
        if not hub.join(self.feed, page):
            await self.close(TOO_MANY)
            return
        self._hub, self._page = hub, page
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
            self._hub.leave(self.feed, self._page)

    async def _send_all(self, page: Page) -> None:
        with suppress(OSError):  # the page is gone; the server says so in a message of its own
            # Waits while the page takes nothing; what is said meanwhile fills the queue, and no more.
            while isinstance(message := await page.queue.get(), dict):
                await self.send_json(message)
            await self.close(message)


Application = Callable[..., Awaitable[None]]


def from_this_site(application: Application) -> Application:
    """`AllowedHostsOriginValidator`, which meets an Origin that cannot be read with an error, refuses that too."""
    validated = AllowedHostsOriginValidator(application)

    async def checked(scope: dict[str, Any], receive: Any, send: Any) -> None:
        inner = validated
        for name, value in scope["headers"]:
            if name == b"origin":
                try:
                    urlsplit(value.decode("latin-1")).port  # noqa: B018  # reading it is the check
                except ValueError:
                    inner = WebsocketDenier()
        await inner(scope, receive, send)

    return checked


TRY_AGAIN_LATER: Final = 1013
"""The code that RFC 6455's registry has for it."""
_RESPONSE: Final = "websocket.http.response"


def unless_database_away(application: Application) -> Application:
    """The application, whose errors are answers where the database is away."""

    async def answered(scope: dict[str, Any], receive: Any, send: Any) -> None:
        is_open = False

        async def noted(message: dict[str, Any]) -> None:
            nonlocal is_open
            is_open = is_open or message["type"] == "websocket.accept"
            await send(message)

        try:
            await application(scope, receive, noted)
        except Exception as error:
            if not is_database_away(error):
                raise
            log_database_away(error, f"websocket {scope['path']}")
            if is_open or _RESPONSE not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            else:
                await _refuse(send)

    return answered


async def _refuse(send: Any) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"retry-after", str(RETRY_AFTER_SECONDS).encode()),
        (b"cache-control", b"no-store"),
    ]
    body = orjson.dumps({"error": UNAVAILABLE_MESSAGE, "code": UNAVAILABLE, "details": {}})
    await send({"type": f"{_RESPONSE}.start", "status": 503, "headers": headers})
    await send({"type": f"{_RESPONSE}.body", "body": body})
