"""Calls of reading tools in the newest revision, answered without the SDK, whose models and contexts
cost more than most tools.

Only fully valid calls are answered here. All others are passed to the SDK, which reports the
errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import mcp.types as wire
import orjson
from mcp.shared.inbound import x_mcp_header_map
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_bridge.access.principals import SCOPE_KEY
from mcp_bridge.protocol.server import NEWEST_REVISION, ProtocolServer
from proofroom.core.observability.operations import find_tracer
from proofroom.core.tools import Arguments, get_tool
from proofroom.core.tools.schemas import lean_schema

_REVISION_HEADER: Final = b"mcp-protocol-version"
_METHOD_HEADER: Final = b"mcp-method"
_NAME_HEADER: Final = b"mcp-name"
_PARAMETER_PREFIX: Final = b"mcp-param-"
_CALL: Final = "tools/call"
_JSON: Final = b"application/json"


class DirectCalls:
    """An ASGI application before the SDK's, for requests whose body is already read."""

    def __init__(self, server: ProtocolServer, sdk: ASGIApp) -> None:
        self._calls, self._sdk = server.calls, sdk
        self._meta = {wire.SERVER_INFO_META_KEY: server.server_info_stamp}
        # The SDK creates a span for each message, so it is used if a tracer collects them.
        self._is_on = find_tracer() is None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = plain_call(scope["headers"]) if self._is_on and scope["method"] == "POST" else ""
        if not name:
            await self._sdk(scope, receive, send)
            return
        message = await receive()
        request = read_call(message.get("body", b""), name)
        if request is None:
            first: list[Message] = [message]

            async def replay() -> Message:
                return first.pop() if first else await receive()

            await self._sdk(scope, replay, send)
            return
        answer = await self._calls.run_quick(
            scope[SCOPE_KEY], name, request["params"].get("arguments") or {}
        )
        result = answer.to_wire(orjson.Fragment)
        result["resultType"] = "complete"
        result["_meta"] = {**result.get("_meta", {}), **self._meta}
        body = orjson.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", _JSON)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def plain_call(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the tool of a plain request of the newest revision, if the tool only reads and does not
    wait; otherwise an empty string.
    """
    seen: dict[bytes, bytes] = {}
    for name, value in headers:
        # Repeated headers, and arguments as headers, need the SDK's checks.
        if name in seen or name.startswith(_PARAMETER_PREFIX):
            return ""
        seen[name] = value
    if (
        seen.get(_REVISION_HEADER) != NEWEST_REVISION.encode()
        or seen.get(_METHOD_HEADER) != _CALL.encode()
        or seen.get(b"content-type") != _JSON
        or _JSON not in seen.get(b"accept", b"").replace(b" ", b"").split(b",")
    ):
        return ""
    tool = get_tool(seen.get(_NAME_HEADER, b"").decode("latin-1"))
    if tool is None or tool.kind != "read" or tool.waits or _has_headers(tool.arguments):
        return ""
    return tool.name


@cache
def _has_headers(arguments: type[Arguments]) -> bool:
    """Return True if an argument is also sent as a header, which the SDK compares."""
    return bool(x_mcp_header_map(lean_schema(arguments)))


def read_call(body: bytes, name: str) -> dict[str, Any] | None:
    """Return the request in the body if it is a complete call of that tool."""
    try:
        request = json.loads(body)  # like the SDK, so that both accept the same input
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(request, dict)
        or request.get("jsonrpc") != "2.0"
        or request.get("method") != _CALL
        or not _can_be_answered(request.get("id"))
        or not isinstance(params := request.get("params"), dict)
        or params.get("name") != name
        or not isinstance(params.get("arguments"), dict | None)
        or not isinstance(meta := params.get("_meta"), dict)
        or meta.get(wire.PROTOCOL_VERSION_META_KEY) != NEWEST_REVISION
        or not isinstance(meta.get(wire.CLIENT_CAPABILITIES_META_KEY), Mapping)
    ):
        return None
    return request


def _can_be_answered(call_id: object) -> bool:
    """Return True if JSON can repeat the id unchanged: no integers beyond 64 bits, no lone surrogates."""
    # Not `isinstance`, because `bool` is a subclass of `int`.
    if type(call_id) not in (int, str):
        return False
    try:
        orjson.dumps(call_id)
    except TypeError:
        return False
    return True
