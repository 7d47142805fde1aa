"""Websockets of open pages: same origin only, and refused while the database is unreachable."""

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

from proofroom.core.database.errors import (
    RETRY_AFTER_SECONDS,
    UNAVAILABLE,
    UNAVAILABLE_MESSAGE,
    is_database_unreachable,
    log_database_unreachable,
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


class PageConsumer(AsyncJsonWebsocketConsumer, Generic[Page]):  # type: ignore[misc]  # channels is untyped
    """Accepts users with the permission, and sends the page's queued messages."""

    permission: ClassVar[str]
    feed: ClassVar[type[Feed[Any]]]
    _hub: Hub | None = None
    _page: Page | None = None
    _sending: asyncio.Task[None] | None = None

    def page_of(self, connection: PageConnection) -> Page:
        """Return the page for the query string. Raises `ValueError` if it is invalid."""
        raise NotImplementedError

    async def connect(self) -> None:
        # In a thread, because a custom role is read from the database.
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
            # Pages only receive.
            self._page.end(BAD_REQUEST)

    async def disconnect(self, code: int) -> None:
        self._leave()
        if self._sending is not None:
            self._sending.cancel()

    def _leave(self) -> None:
        if self._hub is not None and self._page is not None:
            self._hub.leave(self.feed, self._page)

    async def _send_all(self, page: Page) -> None:
        with suppress(OSError):  # the page is gone; the server sends a disconnect message
            # Sending waits while the page does not read; the bounded queue then closes it.
            while isinstance(message := await page.queue.get(), dict):
                await self.send_json(message)
            await self.close(message)


Application = Callable[..., Awaitable[None]]


def from_this_site(application: Application) -> Application:
    """Return `AllowedHostsOriginValidator`, which also refuses an invalid Origin instead of raising an error."""
    validated = AllowedHostsOriginValidator(application)

    async def check_origin(scope: dict[str, Any], receive: Any, send: Any) -> None:
        inner = validated
        for name, value in scope["headers"]:
            if name == b"origin":
                try:
                    urlsplit(value.decode("latin-1")).port  # noqa: B018  # raises ValueError if invalid
                except ValueError:
                    inner = WebsocketDenier()
        await inner(scope, receive, send)

    return check_origin


TRY_AGAIN_LATER: Final = 1013
""""Try Again Later" in the IANA registry of WebSocket close codes (RFC 6455)."""
_RESPONSE: Final = "websocket.http.response"


def handle_database_unreachable(application: Application) -> Application:
    """Answer errors of an unreachable database with 503 or a close code."""

    async def wrapped(scope: dict[str, Any], receive: Any, send: Any) -> None:
        is_open = False

        async def send_and_track(message: dict[str, Any]) -> None:
            nonlocal is_open
            is_open = is_open or message["type"] == "websocket.accept"
            await send(message)

        try:
            await application(scope, receive, send_and_track)
        except Exception as error:
            if not is_database_unreachable(error):
                raise
            log_database_unreachable(error, f"websocket {scope['path']}")
            if is_open or _RESPONSE not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            else:
                await _refuse(send)

    return wrapped


async def _refuse(send: Any) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"retry-after", str(RETRY_AFTER_SECONDS).encode()),
        (b"cache-control", b"no-store"),
    ]
    body = orjson.dumps({"error": UNAVAILABLE_MESSAGE, "code": UNAVAILABLE, "details": {}})
    await send({"type": f"{_RESPONSE}.start", "status": 503, "headers": headers})
    await send({"type": f"{_RESPONSE}.body", "body": body})
