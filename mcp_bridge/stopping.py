"""What is still open when the server stops: its streams end as streams do, not as errors."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LAST: Final[Message] = {"type": "http.response.body", "body": b"", "more_body": False}
_LAST_SECONDS: Final = 0.5
"""How long the end may take where the client reads nothing."""
_STOPPING: Final[Message] = {
    "type": "http.response.start",
    "status": 503,
    "headers": [(b"retry-after", b"5"), (b"content-length", b"0")],
}


class EndsQuietly:
    """An application around another, for a server that cancels what is open after its time to finish."""

    def __init__(self, inner: ASGIApp) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = is_done = False

        async def noted(message: Message) -> None:
            nonlocal has_begun, is_done
            has_begun = has_begun or message["type"] == "http.response.start"
            is_done = is_done or _is_last(message)
            await send(message)

        try:
            await self.inner(scope, receive, noted)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
        # Some streams end when they are cancelled as if nothing were, and leave their answer open.
        if scope["type"] == "http" and not is_done:
            with suppress(OSError, RuntimeError), anyio.move_on_after(_LAST_SECONDS):
                if not has_begun:
                    await send(_STOPPING)
                await send(_LAST)


def _is_last(message: Message) -> bool:
    return message["type"] == "http.response.body" and not message.get("more_body", False)
