"""Open pages of users without a server: the whole application, from the Origin check inward."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.test import Client

from cms_project.asgi import application
from tests import make

ORIGIN = b"http://localhost"
WAIT = 20  # pages look every five seconds where nothing wakes them, as inside a test's transaction


class Page(ApplicationCommunicator):
    """The actions of a browser, message by message."""

    hello: Any = None

    async def connect(self) -> int:
        """Connect. Return 0 if accepted, otherwise the close code."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(WAIT)
        return 0 if answer["type"] == "websocket.accept" else int(answer.get("code", 1000))

    async def hears(self) -> Any:
        """Return the next message."""
        answer = await self.receive_output(WAIT)
        assert answer["type"] == "websocket.send", answer
        return json.loads(answer["text"])

    async def is_closed_with(self) -> int:
        """Return the close code, after any number of messages."""
        while (answer := await self.receive_output(WAIT))["type"] == "websocket.send":
            pass
        return int(answer["code"])

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(WAIT)


def session_of(role: str) -> str:
    """Return the cookie of a new session."""
    browser = Client()
    browser.force_login(make.user(role))
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


def asked(
    query: str = "",
    *,
    session: str = "",
    origin: bytes | None = ORIGIN,
    path: str = "/ws/events/",
) -> Page:
    """Return a page that tries to connect."""
    headers = [(b"origin", origin)] if origin is not None else []
    if session:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
    scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": headers}
    return Page(application, {**scope, "subprotocols": []})


@asynccontextmanager
async def opened(role: str, query: str = "", *, session: str = "") -> AsyncIterator[Page]:
    """Return the connected page of a user with that role, after the greeting."""
    page = asked(query, session=session or await sync_to_async(session_of)(role))
    assert await page.connect() == 0
    page.hello = await page.hears()
    assert page.hello.get("hello") is True
    try:
        yield page
    finally:
        await page.leave()


async def heard(page: Page, until: str = "media.uploaded") -> list[Any]:
    """Return the names of a page's events, until a public one."""
    found: list[Any] = []
    while (said := await page.hears()).get("event") != until:
        found.append(said.get("event") or said)
    return found


def in_a_loop(test: Callable[..., Any]) -> Callable[..., None]:
    """Decorate a test that is a coroutine; its queries run in the thread and transaction of the test.

    Like for Django's client, the connection stays open in between, because closing it would end the
    transaction.
    """

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        with patch("channels.db.close_old_connections"):
            async_to_sync(test)(*args, **kwargs)

    return run
