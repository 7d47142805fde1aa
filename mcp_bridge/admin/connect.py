"""The page that connects an AI client: server URL, server status, and the configuration of each client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from mcp_bridge.access.tokens import active_tokens
from mcp_bridge.client_config import ClientCredential, Transport, client_config, token_credential
from mcp_bridge.models import McpCall
from mcp_bridge.server_address import check_server, server_url
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import may, require

_ALL: Final[tuple[Transport, ...]] = ("streamable-http", "sse", "stdio")
_HTTP: Final[tuple[Transport, ...]] = ("streamable-http", "sse")
_LABELS: Final[dict[Transport, str]] = {
    "streamable-http": "Streamable HTTP",
    "sse": "SSE",
    "stdio": "stdio",
}


@dataclass(frozen=True, slots=True)
class TransportConfig:
    """One transport of a client. `id`: its HTML id."""

    id: str
    transport: Transport
    label: str
    config: str


@dataclass(frozen=True, slots=True)
class ClientInstructions:
    """One client. `kind` selects its instructions in the template."""

    kind: str
    name: str
    ways: tuple[TransportConfig, ...]


_KNOWN: Final[tuple[tuple[str, str, tuple[Transport, ...]], ...]] = (
    ("claude-code", "Claude Code", _ALL),
    ("claude", "Claude Code (.mcp.json)", _ALL),
    ("claude-desktop", "Claude Desktop", _ALL),
    # Cursor detects which of the two HTTP transports a server uses.
    ("cursor", "Cursor", ("streamable-http", "stdio")),
    ("vscode", "VS Code", _ALL),
    ("n8n", "n8n", _HTTP),
)


def client_instructions(
    *, url: str, credential: ClientCredential | None, stdio: bool = False
) -> list[ClientInstructions]:
    """Return all clients. `stdio`: the user may start programs on the server's machine."""
    return [
        ClientInstructions(
            kind,
            name,
            tuple(
                TransportConfig(
                    id=f"{kind}-{transport}",
                    transport=transport,
                    label=_LABELS[transport],
                    config=client_config(kind, url=url, transport=transport, credential=credential),
                )
                for transport in transports
                if stdio or transport != "stdio"
            ),
        )
        for kind, name, transports in _KNOWN
    ]


PERMISSIONS: Final = ("posts.edit", "settings.manage")
"""Permissions to see the page. The configured credentials are shown only with `settings.manage`."""


@require_safe
def connect(request: HttpRequest) -> HttpResponse:
    """Show the page. It checks the server, which takes two seconds at most."""
    require(request, *PERMISSIONS)
    url, manages = server_url(), may(request, "settings.manage")
    context: dict[str, Any] = {
        "reached": check_server(),
        "url": url,
        "manages": manages,
        "has_oauth": bool(settings.CMS_ENV.mcp_oauth and settings.CMS_ENV.mcp_url),
        "may_make_tokens": may(request, "tokens.manage"),
        "clients": client_instructions(url=url, credential=token_credential(), stdio=manages),
        # From a simple question to a proposal.
        "prompts": [
            gettext("Which posts are on this site? List the five most recently changed."),
            gettext(
                "Read the newest blog post and propose a better title and meta description. Save "
                "them to AI Review, and tell me what you changed and why."
            ),
            gettext(
                "Write a blog post from this brief: … Use modules that the post type allows, save "
                "all of it to AI Review, and submit it to Review with a note for the editor."
            ),
            gettext(
                "Which posts have changes in AI Review that nobody has "
                "submitted? List what is waiting in each."
            ),
        ],
    }
    if manages:
        # Only which credentials are configured, never their values.
        environment = settings.CMS_ENV
        has_static = bool(environment.mcp_auth_token or environment.mcp_auth_header_name)
        is_open = not (has_static or environment.mcp_url or environment.mcp_allowed_hosts)
        context |= {
            "has_token": bool(environment.mcp_auth_token),
            "header_name": environment.mcp_auth_header_name,
            "token_count": active_tokens().count(),
            "is_open": is_open,
            "diagnostics": environment.mcp_diagnostics,
        }
    title = gettext("Connect an AI client")
    return form_page(request, "admin/mcp/connect.html", McpCall, context, title=title)
