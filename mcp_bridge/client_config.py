"""How an AI client is told of this server: the configuration that each client reads, without any secret in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.conf import settings

NAME: Final = "cms"
TOKEN: Final = "MCP_AUTH_TOKEN"  # noqa: S105  # the name of the variable, not its value
VALUE: Final = "MCP_AUTH_HEADER_VALUE"
Placeholder = Callable[[str], str]
"""From the name of a variable to the words by which a client reads it."""


def client_config(client: str, *, transport: str, host: str, port: int) -> str:
    """The configuration for `client` (one of `CLIENTS`) as JSON.

    `transport` is `sse`, `streamable-http` or `stdio`. Credentials are named by their variable, never shown.
    """
    return json.dumps(_CLIENTS[client](transport, f"http://{host}:{port}/mcp"), indent=2)


def _stdio() -> dict[str, Any]:
    manage = str(settings.BASE_DIR / "manage.py")
    return {"command": sys.executable, "args": [manage, "run_mcp", "--transport", "stdio"]}


def _headers(placeholder: Placeholder) -> dict[str, str]:
    environment = settings.CMS_ENV
    if environment.mcp_auth_token:
        return {"Authorization": f"Bearer {placeholder(TOKEN)}"}
    if environment.mcp_auth_header_name:
        return {environment.mcp_auth_header_name: placeholder(VALUE)}
    return {}


def _entry(transport: str, url: str, placeholder: Placeholder) -> dict[str, Any]:
    if transport == "stdio":
        return {"type": "stdio", **_stdio()}
    headers = _headers(placeholder)
    kind = "sse" if transport == "sse" else "http"
    return {"type": kind, "url": url, **({"headers": headers} if headers else {})}


def _claude(transport: str, url: str) -> Mapping[str, Any]:
    return {"mcpServers": {NAME: _entry(transport, url, "${{{}}}".format)}}


def _cursor(transport: str, url: str) -> Mapping[str, Any]:
    entry = _entry(transport, url, "${{env:{}}}".format)
    del entry["type"]  # it finds out by itself
    return {"mcpServers": {NAME: entry}}


def _vscode(transport: str, url: str) -> Mapping[str, Any]:
    entry = _entry(transport, url, "${{input:{}}}".format)
    config: dict[str, Any] = {"servers": {NAME: entry}}
    wanted = [name for name in (TOKEN, VALUE) if name in str(entry.get("headers", ""))]
    if wanted:
        config["inputs"] = [
            {"type": "promptString", "id": name, "description": name, "password": True}
            for name in wanted
        ]
    return config


def _n8n(transport: str, url: str) -> Mapping[str, Any]:
    """The fields of its node "MCP Client Tool"; it starts no programs, so stdio becomes SSE."""
    environment = settings.CMS_ENV
    node: dict[str, Any] = {
        "endpoint": url,
        "serverTransport": "httpStreamable" if transport == "streamable-http" else "sse",
        "authentication": "none",
    }
    if environment.mcp_auth_token:
        node |= {"authentication": "bearerAuth", "credential": {"token": f"value of {TOKEN}"}}
    elif environment.mcp_auth_header_name:
        credential = {"name": environment.mcp_auth_header_name, "value": f"value of {VALUE}"}
        node |= {"authentication": "headerAuth", "credential": credential}
    return node


_CLIENTS: Final[Mapping[str, Callable[[str, str], Mapping[str, Any]]]] = {
    "claude": _claude,
    "cursor": _cursor,
    "n8n": _n8n,
    "vscode": _vscode,
}
CLIENTS: Final = tuple(_CLIENTS)
