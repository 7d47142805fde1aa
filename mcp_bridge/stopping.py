"""What is still open when the server stops: its streams end as streams do, not as errors."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LAST: Final[Message] = {"type": "http.response.body", "body": b"", "more_body": False}
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
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.inner(scope, receive, noted)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            with suppress(OSError, RuntimeError):  # it had ended, or nobody is there
                if not has_begun:
                    await send(_STOPPING)
                await send(_LAST)
