"""The HTTP face: one application with both HTTP transports and the health check.

`GET /mcp` is SSE (2024-11-05) with `POST /messages?sessionId=`; `POST /mcp` is Streamable HTTP in
every revision that the SDK knows. Sessions live in the process: run one process, or route a session
always to the same one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import parse_qs

import anyio.to_thread
from django.conf import settings
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from mcp_bridge.credentials import Principal, principal_for
from mcp_bridge.gate import LOOPBACK_NAMES, Gate, refusal, security_settings
from mcp_bridge.server import build_server
from mcp_bridge.sse import MAX_SESSIONS, OURS, SessionIdSseTransport

MESSAGES_PATH = "/messages"
RETRY_SECONDS = "30"


def build_app(host: str = "127.0.0.1") -> Starlette:
    """The application, for a server that binds `host`. Its lifespan must run."""
    hosts = {*LOOPBACK_NAMES, host, *settings.CMS_ENV.mcp_allowed_hosts}
    security = security_settings(hosts)
    server = build_server()
    sse = SessionIdSseTransport(MESSAGES_PATH, security_settings=security)
    manager = StreamableHTTPSessionManager(
        app=server, security_settings=security, max_sessions=MAX_SESSIONS
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(
        routes=[
            Route("/mcp", Gate(McpEndpoint(server, sse, manager), hosts, _authenticate)),
            Route(MESSAGES_PATH, Gate(MessagesEndpoint(sse), hosts, _authenticate)),
            Route("/health", _health),
        ],
        lifespan=lifespan,
        exception_handlers={404: _not_found},
    )


async def _authenticate(scope: Scope) -> Principal | None:
    client = scope.get("client")
    address = client[0] if client else None
    return await anyio.to_thread.run_sync(principal_for, scope["headers"], address)


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _not_found(request: Request, error: Exception) -> Response:
    return refusal(404, "Nothing is here. The MCP endpoint is /mcp.", "not_found")


class McpEndpoint:
    """`/mcp`: a bare GET opens an SSE session; everything else is Streamable HTTP.

    A class instance, so that the router hands over the raw connection with any method.
    """

    def __init__(
        self,
        server: Server[Any],
        sse: SessionIdSseTransport,
        manager: StreamableHTTPSessionManager,
    ) -> None:
        self.server, self.sse, self.manager = server, sse, manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope["headers"]}
        in_session = b"mcp-session-id" in names
        if scope["method"] != "GET" or in_session:
            await self.manager.handle_request(scope, receive, send)
        elif b"mcp-protocol-version" in names:
            # A Streamable HTTP client of a revision without the standalone stream.
            answer = refusal(405, "Use POST.", "method_not_allowed", {"Allow": "POST"})
            await answer(scope, receive, send)
        else:
            await self._serve_sse(scope, receive, send)

    async def _serve_sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.sse.open_sessions >= MAX_SESSIONS:
            answer = refusal(
                503,
                f"{MAX_SESSIONS} sessions are open already; close one or try again later.",
                "too_many_sessions",
                {"Retry-After": RETRY_SECONDS},
            )
            await answer(scope, receive, send)
            return
        # When the SDK's own check refuses, it has answered already and raises ValueError.
        with suppress(ValueError):
            async with self.sse.connect_sse(scope, receive, send) as (incoming, outgoing):
                options = self.server.create_initialization_options()
                await self.server.run(incoming, outgoing, options)


class MessagesEndpoint:
    """`POST /messages?sessionId=`: what an SSE client sends."""

    def __init__(self, sse: SessionIdSseTransport) -> None:
        self.sse = sse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        if scope["method"] != "POST":
            answer = refusal(405, "Use POST.", "method_not_allowed", {"Allow": "POST"})
            await answer(scope, receive, send)
        elif len(query.get(OURS, [])) != 1:
            answer = refusal(
                400, f"{OURS} is required: connect to GET /mcp first.", "session_required"
            )
            await answer(scope, receive, send)
        else:
            await self.sse.handle_post_message(scope, receive, _as_json(scope, receive, send))


def _as_json(scope: Scope, receive: Receive, send: Send) -> Send:
    """Turns the SDK's plain-text errors into our error body."""
    status = 0

    async def translated(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start" and message["status"] >= 400:
            status = message["status"]
        elif status and message["type"] == "http.response.body":
            text = message.get("body", b"").decode("utf-8", "replace")
            code = "not_found" if status == 404 else "bad_message"
            await refusal(status, f"{text}.", code)(scope, receive, send)
        else:
            await send(message)

    return translated
