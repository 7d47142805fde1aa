"""Cross-origin access: the headers that browsers need before a page of an allowed origin may call an endpoint."""

from __future__ import annotations

import re
from typing import Final

from starlette.responses import Response
from starlette.types import Message, Send

Headers = list[tuple[bytes, bytes]]

_METHODS: Final = b"GET, POST, DELETE, OPTIONS"
_EXPOSED: Final = b"Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After"
_PREFLIGHT_SECONDS: Final = b"600"
_HEADER_NAMES: Final = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1000}")
_USUAL_HEADERS: Final = (
    b"Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Last-Event-ID"
)


def header_of(headers: Headers, name: bytes) -> bytes | None:
    return next((value for known, value in headers if known == name), None)


def is_preflight(method: str, headers: Headers) -> bool:
    """Return True for a CORS preflight request, which carries no credentials."""
    return method == "OPTIONS" and header_of(headers, b"access-control-request-method") is not None


def answer_preflight(headers: Headers, origin: bytes) -> Response:
    """Return the preflight response for `origin`, with the requested headers."""
    requested = header_of(headers, b"access-control-request-headers") or b""
    response = Response(status_code=204)
    response.raw_headers = [
        *allowed_origin(origin),
        (b"access-control-allow-methods", _METHODS),
        (
            b"access-control-allow-headers",
            requested if _HEADER_NAMES.fullmatch(requested) else _USUAL_HEADERS,
        ),
        (b"access-control-max-age", _PREFLIGHT_SECONDS),
    ]
    if header_of(headers, b"access-control-request-private-network") == b"true":
        response.raw_headers.append((b"access-control-allow-private-network", b"true"))
    return response


def allowed_origin(origin: bytes) -> Headers:
    """Return the headers that let a page of `origin` read a response."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]


def send_to_origin(send: Send, origin: bytes) -> Send:
    """Return a `send` whose responses, including errors and streams, a page of `origin` may read."""

    async def send_readable(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *allowed_origin(origin)]}
        await send(message)

    return send_readable
