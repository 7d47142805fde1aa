"""Requests that are no calls count too: a client in a loop over lists is slowed down as one that calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import mcp.types as wire
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError

from mcp_bridge.access.credentials import Principal
from mcp_bridge.access.rate import TooManyCalls, count_call
from mcp_bridge.protocol.resources import is_call
from mcp_bridge.protocol.threads import Workers

Context = ServerRequestContext[Any, Any]
COUNTED_THERE: Final = frozenset({"tools/call", "resources/list", "completion/complete"})
"""What counts itself: as the call that it is. So does a resource that a tool answers."""
FREE: Final = frozenset({"initialize", "server/discover", "ping"})
"""What reads nothing; how many sessions there may be is bounded elsewhere."""


def _counts_itself(ctx: Context) -> bool:
    if ctx.method == "resources/read":
        return is_call(str((ctx.params or {}).get("uri")))
    return ctx.method in COUNTED_THERE


def counting(
    workers: Workers, principal_of: Callable[[Context], Principal]
) -> ServerMiddleware[Any]:
    """Counts every other request against the rate of its credential."""

    async def counted(ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.request_id is not None and ctx.method not in FREE and not _counts_itself(ctx):
            try:
                await workers.run(count_call, principal_of(ctx))
            except TooManyCalls as error:
                raise MCPError(wire.INVALID_REQUEST, error.message, {"code": error.code}) from None
        return await call_next(ctx)

    return counted
