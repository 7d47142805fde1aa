"""The floor of the MCP server: the bare SDK with a no-op tool, over both HTTP transports.

No gate, credential, database or log. Run by `uvicorn benchmarks.mcp_floor:app`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp.types as wire
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


async def _list(ctx: Any, params: Any) -> wire.ListToolsResult:
    return wire.ListToolsResult(tools=[wire.Tool(name="nothing", input_schema=SCHEMA)])


async def _call(ctx: Any, params: wire.CallToolRequestParams) -> wire.CallToolResult:
    return wire.CallToolResult(content=[wire.TextContent(type="text", text="{}")])


server: Server[Any] = Server(
    "floor", on_list_tools=_list, on_call_tool=_call, get_tool_input_schema=lambda name: SCHEMA
)
sse = SseServerTransport("/messages")
manager = StreamableHTTPSessionManager(app=server)


class _Endpoint:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET" and scope["path"] == "/mcp":
            async with sse.connect_sse(scope, receive, send) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        elif scope["path"] == "/mcp":
            await manager.handle_request(scope, receive, send)
        else:
            await sse.handle_post_message(scope, receive, send)


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({})


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    async with manager.run():
        yield


app = Starlette(
    routes=[
        Route("/mcp", _Endpoint()),
        Route("/messages", _Endpoint()),
        Route("/health", _health),
    ],
    lifespan=_lifespan,
)
