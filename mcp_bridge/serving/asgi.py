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

import anyio
from django.conf import settings
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.availability import RETRY_AFTER_SECONDS, readiness
from mcp_bridge.access.doorkeeper import Doorkeeper
from mcp_bridge.protocol.server import build_server
from mcp_bridge.protocol.threads import Workers
from mcp_bridge.serving.address import is_loopback
from mcp_bridge.serving.answers import refusal
from mcp_bridge.serving.connections import Connections, holder_now
from mcp_bridge.serving.gate import LOOPBACK_NAMES, Gate, security_settings
from mcp_bridge.serving.sessions import Ledger, StreamableSessions
from mcp_bridge.serving.sse import OURS, SessionIdSseTransport

MESSAGES_PATH = "/messages"


def build_app(host: str = "127.0.0.1") -> Starlette:
    """The application, for a server that binds `host`. Its lifespan must run."""
    allowed = settings.CMS_ENV.mcp_allowed_hosts
    hosts = {*LOOPBACK_NAMES, host, *allowed}
    security = security_settings(hosts)
    server, workers, ledger = build_server(), Workers(), Ledger()
    sse = SessionIdSseTransport(MESSAGES_PATH, security_settings=security)
    manager = StreamableSessions(ledger, app=server, security_settings=security)
    connections = Connections(workers, manager)
    doorkeeper = Doorkeeper(workers, serves_local=all(map(is_loopback, (host, *allowed))))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(connections.watch)
            yield
            tasks.cancel_scope.cancel()

    def gated(endpoint: ASGIApp) -> Gate:
        return Gate(endpoint, hosts, doorkeeper.admit, connections)

    app = Starlette(
        routes=[
            Route("/mcp", gated(McpEndpoint(server, sse, manager, ledger))),
            Route(MESSAGES_PATH, gated(MessagesEndpoint(sse))),
            Route("/health", _health),
            Route("/health/live", _health),
            Route("/health/ready", Ready(workers)),
        ],
        lifespan=lifespan,
        exception_handlers={404: _not_found},
    )
    app.state.ledger, app.state.connections = ledger, connections
    return app


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


class Ready:
    """`/health/ready`: whether what the server stands on can be reached, and what cannot."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, body = await self.workers.run_apart(readiness)
        headers = {"Cache-Control": "no-store"}
        if status == 503:
            headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        await JSONResponse(body, status, headers)(scope, receive, send)


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
        manager: StreamableSessions,
        ledger: Ledger,
    ) -> None:
        self.server, self.sse, self.manager, self.ledger = server, sse, manager, ledger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope["headers"]}
        in_session = b"mcp-session-id" in names
        if scope["method"] != "GET" or in_session:
            await self._serve_streamable(scope, receive, send)
        elif b"mcp-protocol-version" in names:
            # A Streamable HTTP client of a revision without the standalone stream.
            answer = refusal(405, "Use POST.", "method_not_allowed", {"Allow": "POST"})
            await answer(scope, receive, send)
        else:
            await self._serve_sse(scope, receive, send)

    async def _serve_streamable(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused: JSONResponse | None = None

        async def translated(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] == 503:
                refused = self.ledger.refused(holder_now.get())
                if refused is not None:
                    await refused(scope, receive, send)
            if refused is None:
                await send(message)

        await self.manager.handle_request(scope, receive, translated)

    async def _serve_sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        holder = holder_now.get()
        refused = self.ledger.refused(holder)
        if refused is not None:
            await refused(scope, receive, send)
            return
        # When the SDK's own check refuses, it has answered already and raises ValueError.
        with self.ledger.one(holder), suppress(ValueError):
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
        elif self.sse.is_full(scope, query[OURS][0]):
            answer = refusal(
                429,
                "Answers of this session wait to be read: read the stream, then go on.",
                "unread_answers",
                {"Retry-After": "1"},
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
