"""Websockets while the database is away: refused with 503 before they are open, closed after."""

from __future__ import annotations

from typing import Any, Final

import orjson

from proofroom.core.diagnostics.availability import (
    RETRY_AFTER_SECONDS,
    UNAVAILABLE,
    UNAVAILABLE_MESSAGE,
    is_database_away,
    log_database_away,
)
from proofroom.core.realtime.allowed_origins import Application

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
