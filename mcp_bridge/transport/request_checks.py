"""The checks before both MCP endpoints: Host and Origin, credentials, size and speed of the body."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from urllib.parse import urlsplit

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_bridge.access.connected_clients import refuse_missing_scope
from mcp_bridge.access.principals import SCOPE_KEY
from mcp_bridge.access.token_holders import TokenHolder
from mcp_bridge.error_responses import refusal
from mcp_bridge.transport.cors import (
    answer_preflight,
    header_of,
    is_preflight,
    send_to_origin,
)
from mcp_bridge.transport.session_routing import receive_passed_on
from mcp_bridge.transport.sessions import Connections

MAX_BODY_BYTES = 4 * 1024 * 1024
BODY_SECONDS = 20.0
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")

Admit = Callable[[Scope], Awaitable[TokenHolder | JSONResponse]]


def security_settings(hosts: Iterable[str]) -> TransportSecuritySettings:
    """Return the SDK's check of the same names, as a second line of defense."""
    names = [f"[{host}]" if ":" in host else host for host in hosts]
    patterns = [pattern for name in names for pattern in (name, f"{name}:*")]
    origins = [f"{scheme}://{pattern}" for scheme in ("http", "https") for pattern in patterns]
    return TransportSecuritySettings(allowed_hosts=patterns, allowed_origins=origins)


class RequestChecks:
    """An ASGI application around an endpoint that checks every request, with any method.

    `hosts` are the names (without ports) allowed in `Host` and `Origin`; a page of another name
    that was rebound to this address is rejected, with or without credentials. Pages of these names
    may read the responses, including errors; their preflight requests carry no credential. Accepted
    requests end with their credential.
    """

    def __init__(
        self, inner: ASGIApp, hosts: Iterable[str], admit: Admit, connections: Connections
    ) -> None:
        self.inner = inner
        self.hosts = {host.lower() for host in hosts}
        self.admit = admit
        self.connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # One HTTP parser leaves blanks at the end of values, which the protocol's headers must not
        # have.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        scope = receive_passed_on({**scope, "headers": headers})
        headers = scope["headers"]
        wrong_name = self.refuse_wrong_name(headers)
        origin = header_of(headers, b"origin")
        if wrong_name is None and origin is not None:
            if is_preflight(scope["method"], headers):
                await answer_preflight(headers, origin)(scope, receive, send)
                return
            send = send_to_origin(send, origin)
        holder = wrong_name or await self.admit(scope)
        if isinstance(holder, JSONResponse):
            await holder(scope, receive, send)
        elif scope["method"] == "POST":
            body = await read_body(headers, receive)
            if isinstance(body, JSONResponse):
                await body(scope, receive, send)
            elif body is None:
                return  # the client has disconnected
            elif refused := refuse_missing_scope(holder.principal, body):
                await refused(scope, receive, send)
            else:
                first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

                async def replay() -> Message:
                    return first.pop() if first else await receive()

                await self.serve(holder, scope, replay, send)
        else:
            await self.serve(holder, scope, receive, send)

    async def serve(self, holder: TokenHolder, scope: Scope, receive: Receive, send: Send) -> None:
        scope = {**scope, SCOPE_KEY: holder.principal, "user": sdk_user(holder.principal.id)}
        await self.connections.serve(self.inner, holder, scope, receive, send)

    def refuse_wrong_name(self, headers: list[tuple[bytes, bytes]]) -> JSONResponse | None:
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        # Several Host headers are ambiguous: a proxy may have checked another one.
        if len(hosts) != 1 or _hostname(f"//{hosts[0]}") not in self.hosts:
            names = ", ".join(hosts)[:100]
            return refusal(
                421, f"Host {names!r} is not allowed; add it to MCP_ALLOWED_HOSTS.", "wrong_host"
            )
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if any(_hostname(origin) not in self.hosts for origin in origins):
            names = ", ".join(origins)[:100]
            return refusal(
                403,
                f"Origin {names!r} is not allowed; add it to MCP_ALLOWED_HOSTS.",
                "wrong_origin",
            )
        return None


@lru_cache(maxsize=1_000)
def sdk_user(principal_id: str) -> AuthenticatedUser:
    """Return the SDK's user of a request. The SDK binds a session to the user that opened it, and
    answers 404 to others.
    """
    identity = {"token": "", "client_id": principal_id, "scopes": []}
    return AuthenticatedUser(AccessToken.model_validate(identity))


@lru_cache(maxsize=1_000)
def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


async def read_body(
    headers: list[tuple[bytes, bytes]], receive: Receive
) -> bytes | JSONResponse | None:
    """Return the body, None if the client disconnected, or the error for one too large or too slow."""
    # A declared size is refused before reading; the size is also checked while reading, because it
    # can be wrong or missing.
    declared = next((value for name, value in headers if name == b"content-length"), b"0")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        return _too_large()
    body = bytearray()
    with anyio.move_on_after(BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > MAX_BODY_BYTES:
                return _too_large()
            if not message.get("more_body", False):
                return bytes(body)
    return refusal(408, f"The request body did not arrive in {BODY_SECONDS:g} seconds.", "too_slow")


def _too_large() -> JSONResponse:
    return refusal(413, f"The request body may have at most {MAX_BODY_BYTES:,} bytes.", "too_large")
