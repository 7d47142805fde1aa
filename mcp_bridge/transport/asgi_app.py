"""The HTTP application with both HTTP transports and the health check.

`GET /mcp` is SSE (2024-11-05) with `POST /messages?sessionId=`; `POST /mcp` is Streamable HTTP in
all revisions of the SDK. A session lives in one process. Its id starts with the key of that
process, so that other processes can forward requests, without sticky sessions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import anyio
from django.conf import settings
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_bridge.access.authentication import Authenticator
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.error_responses import refusal
from mcp_bridge.protocol.call_batches import CallBatches
from mcp_bridge.protocol.server import NEWEST_REVISION, build_server
from mcp_bridge.protocol.subscriptions import ChangeFeed
from mcp_bridge.transport.cors import answer_preflight, is_preflight
from mcp_bridge.transport.direct_calls import DirectCalls
from mcp_bridge.transport.request_checks import LOOPBACK_NAMES, RequestChecks, security_settings
from mcp_bridge.transport.session_routing import SessionRouter
from mcp_bridge.transport.sessions import (
    Connections,
    SessionCounter,
    StreamableSessions,
    current_holder,
)
from mcp_bridge.transport.sse import SESSION_PARAMETER, SseTransport
from mcp_bridge.worker_threads import Workers
from proofroom.core.database.errors import RETRY_AFTER_SECONDS
from proofroom.core.diagnostics.availability import readiness
from proofroom.core.observability.metrics import answer_scrape
from proofroom.core.tools import get_tool
from proofroom.core.validation.host_names import is_loopback_host
from proofroom.oauth.addresses import PROTECTED_RESOURCE_PATH, resource_metadata

MESSAGES_PATH = "/messages"
METADATA_PREFIX = "/.well-known/"


def build_app(host: str = "127.0.0.1", address: str | None = None) -> Starlette:
    """Build the application for a server that binds `host`. Its lifespan must run.

    `address` is where other processes of the same server reach it; without one it is the only
    process.
    """
    allowed = settings.CMS_ENV.mcp_allowed_hosts
    hosts = {*LOOPBACK_NAMES, host, *allowed}
    security = security_settings(hosts)
    access, workers, counter = ServerAccess(), Workers(), SessionCounter()
    feed = ChangeFeed(workers)
    batches = CallBatches(workers)
    server = build_server(access, feed, batches)
    router = SessionRouter(workers, address)
    sse = SseTransport(MESSAGES_PATH, router.new_session_id)
    manager = StreamableSessions(
        counter, router.new_session_id, app=server, security_settings=security
    )
    quick = StreamableHTTPSessionManager(
        app=server, json_response=True, stateless=True, security_settings=security
    )
    direct = DirectCalls(server, quick.handle_request)
    connections = Connections(workers, manager, access)
    # With a public URL, people connect clients with OAuth, and a request without a credential must
    # not be accepted.
    serves_local = not settings.CMS_ENV.mcp_url and all(map(is_loopback_host, (host, *allowed)))
    authenticator = Authenticator(workers, access, serves_local=serves_local)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run(), quick.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(connections.watch)
            await router.start()
            tasks.start_soon(router.run)
            tasks.start_soon(feed.run)
            tasks.start_soon(batches.run)
            changes = access.follow_changes(connections.look_soon)
            yield
            changes.close()
            tasks.cancel_scope.cancel()
        # After the tasks have ended, so that the last rows are written at shutdown.
        await workers.run_apart(batches.write)

    def gated(endpoint: ASGIApp) -> RequestChecks:
        return RequestChecks(endpoint, hosts, authenticator.admit, connections)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def metrics(request: Request) -> Response:
        answer = await workers.run_apart(
            partial(answer_scrape, request.headers.get("authorization", ""))
        )
        if answer is None:
            raise HTTPException(404)
        headers = {**answer.headers, "Cache-Control": "no-store"}
        return Response(answer.body, answer.status, headers)

    async def protected_resource(request: Request) -> Response:
        if not settings.CMS_ENV.mcp_oauth:
            raise HTTPException(404)
        return JSONResponse(resource_metadata(), headers={"Access-Control-Allow-Origin": "*"})

    async def preflight_of_metadata(request: Request) -> Response:
        if not is_preflight(request.method, request.scope["headers"]):
            raise HTTPException(404)
        return answer_preflight(request.scope["headers"], b"*")

    async def no_metadata(request: Request) -> Response:
        raise HTTPException(404)

    async def not_found(request: Request, error: Exception) -> Response:
        # Clients in browsers try several metadata URLs, and must be able to read the 404.
        is_metadata = request.url.path.startswith(METADATA_PREFIX)
        headers = {"Access-Control-Allow-Origin": "*"} if is_metadata else None
        return refusal(404, "Nothing is here. The MCP endpoint is /mcp.", "not_found", headers)

    app = Starlette(
        routes=[
            Route("/mcp", gated(McpEndpoint(server, sse, manager, direct, counter, router))),
            Route(MESSAGES_PATH, gated(MessagesEndpoint(sse, router))),
            Route(METADATA_PREFIX + "{rest:path}", preflight_of_metadata, methods=["OPTIONS"]),
            Route(PROTECTED_RESOURCE_PATH, protected_resource),
            Route(f"{PROTECTED_RESOURCE_PATH}/mcp", protected_resource),
            Route(METADATA_PREFIX + "{rest:path}", no_metadata),
            Route("/health", health),
            Route("/health/live", health),
            Route("/health/ready", ReadinessEndpoint(workers)),
            Route("/health/metrics", metrics),
        ],
        lifespan=lifespan,
        exception_handlers={404: not_found},
    )
    app.state.counter, app.state.connections, app.state.feed = counter, connections, feed
    return app


class ReadinessEndpoint:
    """`/health/ready`: reports which services the server depends on cannot be reached."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, body = await self.workers.run_apart(readiness)
        headers = {"Cache-Control": "no-store"}
        if status == 503:
            headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        await JSONResponse(body, status, headers)(scope, receive, send)


class McpEndpoint:
    """`/mcp`: a GET without session opens an SSE session; everything else is Streamable HTTP.

    A class instance, because the router passes the raw connection with any method only to these.
    """

    def __init__(
        self,
        server: Server[Any],
        sse: SseTransport,
        manager: StreamableSessions,
        quick: ASGIApp,
        counter: SessionCounter,
        router: SessionRouter,
    ) -> None:
        self.server, self.sse, self.counter = server, sse, counter
        self.manager, self.quick, self.router = manager, quick, router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if is_quick_call(headers):
            await self.quick(scope, receive, send)
        elif scope["method"] != "GET" or b"mcp-session-id" in headers:
            await self.serve_streamable(scope, receive, send)
        elif b"mcp-protocol-version" in headers:
            # A Streamable HTTP client of a revision without the standalone stream.
            answer = refusal(405, "Use POST.", "method_not_allowed", {"Allow": "POST"})
            await answer(scope, receive, send)
        else:
            await self.serve_sse(scope, receive, send)

    async def serve_streamable(self, scope: Scope, receive: Receive, send: Send) -> None:
        session_id = session_of(dict(scope["headers"]))
        if session_id and await self.router.pass_on(session_id, scope, receive, send):
            return
        refused: JSONResponse | None = None

        async def translated(message: Message) -> None:
            nonlocal refused
            # The SDK answers 503 without a body of ours if `_admit_session` refused the session.
            if message["type"] == "http.response.start" and message["status"] == 503:
                refused = self.counter.refuse_if_full(current_holder.get())
                if refused is not None:
                    await refused(scope, receive, send)
            if refused is None:
                await send(message)

        await self.manager.handle_request(scope, receive, translated)

    async def serve_sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        holder = current_holder.get()
        refused = self.counter.refuse_if_full(holder)
        if refused is not None:
            await refused(scope, receive, send)
            return
        with self.counter.count_session(holder):
            async with self.sse.connect(scope, receive, send) as session:
                options = self.server.create_initialization_options()
                await self.server.run(session.incoming, session, options)


def is_quick_call(headers: Mapping[bytes, bytes]) -> bool:
    """Return True if a request of the newest revision calls a tool without progress reports.

    The SDK answers it without a task and a stream; it compares headers and body itself.
    """
    if headers.get(b"mcp-protocol-version") != NEWEST_REVISION.encode():
        return False
    if headers.get(b"mcp-method") != b"tools/call":
        return False
    tool = get_tool(headers.get(b"mcp-name", b"").decode("latin-1"))
    return tool is not None and not tool.waits


def session_of(headers: Mapping[bytes, bytes]) -> str:
    """Return the session id of a Streamable HTTP request; empty for a revision without sessions."""
    revision = headers.get(b"mcp-protocol-version")
    if revision is not None and revision.decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS:
        return ""
    return headers.get(b"mcp-session-id", b"").decode("latin-1")


class MessagesEndpoint:
    """`POST /messages?sessionId=`: messages of an SSE client."""

    def __init__(self, sse: SseTransport, router: SessionRouter) -> None:
        self.sse, self.router = sse, router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        if scope["method"] != "POST":
            answer = refusal(405, "Use POST.", "method_not_allowed", {"Allow": "POST"})
            await answer(scope, receive, send)
        elif len(query.get(SESSION_PARAMETER, [])) != 1:
            answer = refusal(
                400,
                f"{SESSION_PARAMETER} is required: connect to GET /mcp first.",
                "session_required",
            )
            await answer(scope, receive, send)
        else:
            session_id = query[SESSION_PARAMETER][0]
            if not await self.router.pass_on(session_id, scope, receive, send):
                await self.sse.handle_message(session_id, scope, receive, send)
