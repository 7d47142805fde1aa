"""Only pages of this site open websockets: a browser sends cookies along with everybody's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier

Application = Callable[..., Awaitable[None]]


def from_this_site(application: Application) -> Application:
    """`AllowedHostsOriginValidator`, which meets an Origin that cannot be read with an error, refuses that too."""
    validated = AllowedHostsOriginValidator(application)

    async def checked(scope: dict[str, Any], receive: Any, send: Any) -> None:
        inner = validated if _can_be_read(scope) else WebsocketDenier()
        await inner(scope, receive, send)

    return checked


def _can_be_read(scope: dict[str, Any]) -> bool:
    try:
        for name, value in scope["headers"]:
            if name == b"origin":
                urlsplit(value.decode("latin-1")).port  # noqa: B018  # reading it is the check
    except ValueError:
        return False
    return True
