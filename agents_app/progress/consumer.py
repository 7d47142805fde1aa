"""The websocket of pages that show a run. They only listen: whoever sends something is disconnected."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import ClassVar
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.utils.translation import get_supported_language_variant

from agents_app.progress.hub import RunHub, Watcher, run_hub
from core.live.holders import ticket_of
from core.live.listener import BAD_REQUEST, NOT_LET_IN, TOO_MANY


class RunConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """`/ws/runs/<id>/?lang=`: how far the run is, each time that it goes on; closed when it ends."""

    permission: ClassVar[str] = "agents.view"
    _hub: RunHub | None = None
    _watcher: Watcher | None = None
    _sending: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        ticket = ticket_of(self.scope, self.permission)
        if ticket is None:
            await self.close(NOT_LET_IN)
            return
        run_id = self.scope["url_route"]["kwargs"]["run_id"]
        watcher = Watcher(ticket, run_id, _language(self.scope["query_string"]))
        here = run_hub()
        if not here.join(watcher):
            await self.close(TOO_MANY)
            return
        self._hub, self._watcher = here, watcher
        await self.accept()
        self._sending = asyncio.create_task(self._send_all(watcher))

    async def receive(self, *args: object, **kwargs: object) -> None:
        self._leave()
        if self._watcher is not None:
            self._watcher.end(BAD_REQUEST)

    async def disconnect(self, code: int) -> None:
        self._leave()
        if self._sending is not None:
            self._sending.cancel()

    def _leave(self) -> None:
        if self._hub is not None and self._watcher is not None:
            self._hub.leave(self._watcher)

    async def _send_all(self, watcher: Watcher) -> None:
        with suppress(OSError):  # the page is gone; the server says so in a message of its own
            while isinstance(message := await watcher.queue.get(), dict):
                await self.send_json(message)
            await self.close(message)


def _language(query: bytes) -> str:
    """The language of the page, where there is one of that name."""
    try:
        wanted = parse_qs(query.decode("ascii"), max_num_fields=10).get("lang", [""])[0]
        return get_supported_language_variant(wanted[:20])
    except (LookupError, ValueError):
        return str(settings.LANGUAGE_CODE)
