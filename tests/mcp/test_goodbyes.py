"""A connection with an ended credential is closed even if its client cannot be notified."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.token_holders import Account, TokenHolder
from mcp_bridge.transport.sessions import Connection

HOLDER = TokenHolder(Principal(id="token"), Account(1, "ai_agent"))


@pytest.mark.parametrize("has_begun", [True, False])
def test_what_is_behind_a_connection_stops_though_its_client_is_gone(has_begun: bool) -> None:
    is_gone = False

    async def send(message: Any) -> None:
        if is_gone:
            raise OSError("the connection is gone")

    async def main() -> None:
        nonlocal is_gone
        begun = anyio.Event()

        async def inner(scope: Any, receive: Any, send: Any) -> None:
            if has_begun:
                await send({"type": "http.response.start", "status": 200, "headers": []})
            begun.set()
            await anyio.sleep_forever()

        connection = Connection(HOLDER, {"type": "http"}, anyio.sleep_forever, send)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.serve, inner)
                await begun.wait()
                is_gone = True
                await connection.end()

    anyio.run(main)
