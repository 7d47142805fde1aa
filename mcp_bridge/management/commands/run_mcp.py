"""Serves the MCP tools to AI clients."""

from __future__ import annotations

import logging
import signal
import sys
from argparse import ArgumentParser
from typing import Any

import anyio
import uvicorn
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from mcp.server.stdio import stdio_server

from mcp_bridge.access.principals import credentials_configured
from mcp_bridge.access.tokens import active_tokens
from mcp_bridge.client_config import CLIENTS, TRANSPORTS, client_config, usual_credential
from mcp_bridge.protocol.server import build_server
from mcp_bridge.protocol.subscriptions import ChangeFeed
from mcp_bridge.server_address import server_url
from mcp_bridge.transport.asgi_app import build_app
from mcp_bridge.transport.http_server import GracefulShutdown, HeadTimeoutProtocol
from mcp_bridge.transport.session_routing import own_address
from mcp_bridge.worker_threads import Workers
from proofroom.core.validation.host_names import is_loopback_host

GRACE_SECONDS = 2
"""Seconds for pending calls at shutdown. Open streams would otherwise keep the server running."""

_OPEN_ACCESS = (
    "anyone who reaches it could use every tool. Make a token in the admin (AI clients › Tokens), set MCP_AUTH_TOKEN "
    "(or MCP_AUTH_HEADER_NAME and MCP_AUTH_HEADER_VALUE), or keep to 127.0.0.1."
)


class Command(BaseCommand):
    help = "Serve the MCP tools over HTTP (SSE and Streamable HTTP on one port) or over stdio."
    # On stdio, stdout belongs to the protocol; the checks run with `manage.py check`.
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--transport",
            choices=TRANSPORTS,
            help="stdio, or the HTTP server (default), which serves both sse and streamable-http",
        )
        parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
        parser.add_argument(
            "--print-config",
            choices=CLIENTS,
            help="print the configuration for this AI client, then exit",
        )
        parser.add_argument("--port", type=int, default=None, help="default: MCP_PORT, else 8787")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["print_config"]:
            url = server_url(options["host"], options["port"])
            config = client_config(
                options["print_config"],
                url=url,
                transport=options["transport"] or TRANSPORTS[0],
                credential=usual_credential(url),
            )
            self.stdout.write(config)
            return
        quiet_logs()
        if options["transport"] == "stdio":
            require_site()
            anyio.run(serve_stdio)
            return
        host, port = options["host"], options["port"]
        require_credentials(host)
        port = settings.CMS_ENV.mcp_port if port is None else port
        self.stderr.write(f"MCP server on http://{host}:{port}/mcp (SSE and Streamable HTTP)")
        # The server shuts down first and raises the signal again afterwards.
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
        uvicorn.run(
            GracefulShutdown(build_app(host, own_address(host, port))),
            host=host,
            port=port,
            http=HeadTimeoutProtocol,
            log_config=None,
            # Access logs would contain the session ids in URLs.
            access_log=False,
            server_header=False,
            proxy_headers=False,  # TRUSTED_PROXIES determines the client, as everywhere in the project
            timeout_graceful_shutdown=GRACE_SECONDS,
        )


def require_credentials(host: str) -> None:
    """Raise `CommandError` if the server is reachable from other machines without any credential."""
    try:
        configured = credentials_configured()
    except ImproperlyConfigured as error:
        raise CommandError(str(error)) from error
    # With another host name there is a proxy in front, whose requests come from this machine.
    remote_names = [
        name for name in settings.CMS_ENV.mcp_allowed_hosts if not is_loopback_host(name)
    ]
    # A server with a public URL lets people connect clients with OAuth.
    has_oauth = bool(settings.CMS_ENV.mcp_oauth and settings.CMS_ENV.mcp_url)
    if (
        configured
        or (is_loopback_host(host) and not remote_names)
        or has_oauth
        or active_tokens().exists()
    ):
        return
    if not is_loopback_host(host):
        raise CommandError(f"Refusing to bind {host} without credentials: {_OPEN_ACCESS}")
    raise CommandError(
        f"Refusing to serve {', '.join(remote_names)} (MCP_ALLOWED_HOSTS) without credentials: {_OPEN_ACCESS}"
    )


def require_site() -> None:
    """Raise `CommandError` for an empty database: the client's configuration lacks variables and
    opened another one.
    """
    if not connection.introspection.table_names():
        place = connection.settings_dict["NAME"]
        raise CommandError(
            f"The database {place} is empty. Copy the configuration again from the admin or from "
            "`run_mcp --print-config`, started with the variables of the site; or run `manage.py migrate`."
        )


def quiet_logs() -> None:
    """Remove logs from stdout, which stdio clients parse, and clients' data and session ids from the log."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stdout:
            handler.setStream(sys.stderr)
    logging.getLogger("mcp").setLevel(logging.ERROR)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # INFO logs every requested URL
    logging.getLogger("mcp.server.sse").setLevel(logging.CRITICAL)  # ERROR quotes invalid messages


async def serve_stdio() -> None:
    feed = ChangeFeed(Workers())
    server = build_server(feed=feed)
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
        tasks.start_soon(feed.run)
        await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()
