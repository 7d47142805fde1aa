"""Configurations of AI clients for this server.

They contain a secret only if the caller passes one; otherwise the client reads it from a variable,
or asks for it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast, get_args
from urllib.parse import urlsplit

from django.conf import settings
from pydantic_settings import DotEnvSettingsSource

from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.host_names import is_loopback_host

Transport = Literal["streamable-http", "sse", "stdio"]
TRANSPORTS: Final = cast("tuple[Transport, ...]", get_args(Transport))
SERVER_KEY: Final = "proofroom"
_TRANSPORT_TYPES: Final[Mapping[Transport, str]] = {
    "streamable-http": "http",
    "sse": "sse",
    "stdio": "stdio",
}
_DESKTOP_VARIABLE: Final = "CMS_MCP_CREDENTIAL"
_SERVER_VARIABLES: Final = (
    "PORT",
    "MCP_PORT",
    "MCP_URL",
    "MCP_ALLOWED_HOSTS",
    "MCP_AUTH_",
    "THROTTLE_",
    "METRICS_",
    "LOG_FORMAT",
    "CMS_LOG_FILE",
    "CMS_STATIC_DIR",
)
# In double quotes these characters are literal in POSIX shells, PowerShell and cmd.
_UNQUOTED: Final = re.compile(r"[\w@+=:,./~ -]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClientCredential:
    """The credential a client sends in `header`. Without a `secret` it is read from `variable`."""

    variable: str
    header: str = "Authorization"
    scheme: str = "Bearer "
    secret: str = field(default="", repr=False)

    def value(self, placeholder: str) -> str:
        """Return the header's value. `placeholder`: the client's syntax of a variable, with `{}` for its name."""
        return self.scheme + (self.secret or placeholder.format(self.variable))


def token_credential(secret: str = "") -> ClientCredential:
    """Return the credential of a token created in the admin."""
    return ClientCredential("CMS_MCP_TOKEN", secret=secret)


def usual_credential(url: str) -> ClientCredential | None:
    """Return the usual credential: the static one; a token if the URL is not local; otherwise None."""
    environment = settings.CMS_ENV
    if environment.mcp_auth_token:
        return ClientCredential("MCP_AUTH_TOKEN")
    if environment.mcp_auth_header_name:
        return ClientCredential("MCP_AUTH_HEADER_VALUE", environment.mcp_auth_header_name, "")
    return None if is_loopback_host(urlsplit(url).hostname or "") else token_credential()


@dataclass(frozen=True, slots=True)
class _ConfigRequest:
    url: str
    transport: Transport
    credential: ClientCredential | None

    def headers(self, placeholder: str) -> dict[str, Json]:
        if self.credential is None:
            return {}
        return {"headers": {self.credential.header: self.credential.value(placeholder)}}

    def entry(self, placeholder: str, *, typed: bool = True) -> JsonObject:
        """Return the description of a server in the format most clients use."""
        kind: JsonObject = {"type": _TRANSPORT_TYPES[self.transport]} if typed else {}
        if self.transport == "stdio":
            return {**kind, **_program(placeholder)}
        return {**kind, "url": self.url, **self.headers(placeholder)}


def client_config(
    client: str, *, url: str, transport: Transport, credential: ClientCredential | None = None
) -> str:
    """Return the configuration for `client`, one of `CLIENTS`: JSON, or a command for `claude-code`.

    If the client does not support `transport`, the nearest supported one is used. A stdio program
    needs no credential.
    """
    return _CLIENTS[client](_ConfigRequest(url, transport, credential))


def _json(value: JsonObject) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def manage_command(*arguments: str) -> tuple[str, ...]:
    """Return the command line of a management command, usable from any directory."""
    return (sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments)


def site_variables() -> dict[str, str | None]:
    """Return the environment variables that another process needs to run the same site and that `.env`
    does not set.

    The value of a secret is None. Variables of ports, limits, logs and the server's credentials are
    omitted, because they do not matter over stdio.
    """
    environment = type(settings.CMS_ENV)
    stored = DotEnvSettingsSource(environment, case_sensitive=True).env_vars
    found: dict[str, str | None] = {}
    for name, declared in environment.model_fields.items():
        variable = name.upper()
        if variable.startswith(_SERVER_VARIABLES):
            continue
        for given in (variable, f"{variable}_FILE"):
            value = os.environ.get(given)
            if value and value != stored.get(given):
                # A `_FILE` variable contains a path, which is no secret.
                is_secret = bool(declared.json_schema_extra) and given == variable
                found[given] = None if is_secret else value
    if "CMS_DATA_DIR" in found:
        # Absolute, because the client starts the program in another directory.
        found["CMS_DATA_DIR"] = str(settings.CMS_ENV.cms_data_dir)
    module = os.environ.get("DJANGO_SETTINGS_MODULE", "")
    if module and module != f"{module.partition('.')[0]}.settings":
        found["DJANGO_SETTINGS_MODULE"] = module  # the default is set by `manage.py`
    return found


def _program(placeholder: str) -> JsonObject:
    """Return the program with the variables of this site, because clients start it in their own environment."""
    command, *arguments = manage_command("run_mcp", "--transport", "stdio")
    program: JsonObject = {"command": command, "args": list(arguments)}
    variables = site_variables()
    if variables:
        program["env"] = {
            name: placeholder.format(name) if value is None else value
            for name, value in variables.items()
        }
    return program


def quote_word(text: str) -> str:
    """Return the text quoted as one argument for most shells, so that a secret or URL cannot run code."""
    if text.startswith("-") or not _UNQUOTED.fullmatch(text):
        return shlex.quote(text)
    return f'"{text}"' if " " in text or "~" in text else text


def _claude_code(asked: _ConfigRequest) -> str:
    words = ["claude", "mcp", "add"]
    if asked.transport == "stdio":
        program = manage_command("run_mcp", "--transport", "stdio")
        quoted = [word if word.startswith("--") else quote_word(word) for word in program]
        variables = site_variables()
        for name, value in variables.items():
            given = f"${{{name}}}" if value is None else value
            words += ["--env", quote_word(f"{name}={given}")]
        if variables:
            words += [
                "--transport",
                "stdio",
            ]  # without it the name would be parsed as another variable
        return " ".join([*words, SERVER_KEY, "--", *quoted])
    words += ["--transport", _TRANSPORT_TYPES[asked.transport], SERVER_KEY, quote_word(asked.url)]
    if asked.credential is not None:
        # In single quotes, because Claude Code itself expands the variable on every connection.
        value = asked.credential.value("${{{}}}")
        words += ["--header", quote_word(f"{asked.credential.header}: {value}")]
    return " ".join(words)


def _claude_desktop(asked: _ConfigRequest) -> str:
    """Return the configuration of Claude Desktop, which only starts programs, so `mcp-remote` connects to HTTP."""
    if asked.transport == "stdio":
        return _json({"mcpServers": {SERVER_KEY: _program("<value of {}>")}})
    arguments: list[Json] = ["-y", "mcp-remote", asked.url]
    arguments += ["--transport", f"{_TRANSPORT_TYPES[asked.transport]}-only"]
    parts = urlsplit(asked.url)
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost"):
        arguments.append("--allow-http")
    entry: JsonObject = {"command": "npx", "args": arguments}
    if asked.credential is not None:
        # No blank in an argument, because on Windows it would end there.
        arguments += ["--header", f"{asked.credential.header}:${{{_DESKTOP_VARIABLE}}}"]
        entry["env"] = {_DESKTOP_VARIABLE: asked.credential.value("<value of {}>")}
    return _json({"mcpServers": {SERVER_KEY: entry}})


def _vscode(asked: _ConfigRequest) -> str:
    config: JsonObject = {"servers": {SERVER_KEY: asked.entry("${{input:{}}}")}}
    wanted: list[str] = []
    if asked.transport == "stdio":
        wanted = [name for name, value in site_variables().items() if value is None]
    elif asked.credential is not None and not asked.credential.secret:
        wanted = [asked.credential.variable]
    if wanted:
        config["inputs"] = [
            {"type": "promptString", "id": name, "description": name, "password": True}
            for name in wanted
        ]
    return _json(config)


def _n8n(asked: _ConfigRequest) -> str:
    """Return a node to paste into a workflow. n8n starts no programs, and stores credentials separately."""
    is_http = asked.transport == "streamable-http"
    parameters: JsonObject = {
        "endpointUrl": asked.url,
        "serverTransport": "httpStreamable" if is_http else "sse",
        "authentication": "none",
        "include": "all",
    }
    node: JsonObject = {
        "parameters": parameters,
        "type": "@n8n/n8n-nodes-langchain.mcpClientTool",
        "typeVersion": 1.1,
        "position": [0, 0],
        "id": SERVER_KEY,
        "name": "Proofroom",
    }
    if asked.credential is not None:
        is_bearer = bool(asked.credential.scheme)
        parameters["authentication"] = "bearerAuth" if is_bearer else "headerAuth"
        wanted = "Bearer Auth" if is_bearer else f"Header Auth, name {asked.credential.header}"
        value = "the token" if asked.credential.secret else f"value of {asked.credential.variable}"
        node["notes"] = f"Credential: {wanted}, {value}"
    return _json({"nodes": [node], "connections": {}})


_CLIENTS: Final[Mapping[str, Callable[[_ConfigRequest], str]]] = {
    "claude": lambda asked: _json({"mcpServers": {SERVER_KEY: asked.entry("${{{}}}")}}),
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "cursor": lambda asked: _json(
        {"mcpServers": {SERVER_KEY: asked.entry("${{env:{}}}", typed=False)}}
    ),
    "n8n": _n8n,
    "vscode": _vscode,
}
CLIENTS: Final = tuple(_CLIENTS)
