"""What a page shows of each AI client: where its configuration goes, and the configuration for each transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mcp_bridge.client_config import Credential, Transport, client_config

_ALL: Final[tuple[Transport, ...]] = ("streamable-http", "sse", "stdio")
_HTTP: Final[tuple[Transport, ...]] = ("streamable-http", "sse")
_LABELS: Final[dict[Transport, str]] = {
    "streamable-http": "Streamable HTTP",
    "sse": "SSE",
    "stdio": "stdio",
}


@dataclass(frozen=True, slots=True)
class Way:
    """One transport of a client. `id` is its place in the page."""

    id: str
    transport: Transport
    label: str
    config: str


@dataclass(frozen=True, slots=True)
class ClientHelp:
    """One client. `kind` says which words of the template tell where it goes."""

    kind: str
    name: str
    ways: tuple[Way, ...]


_KNOWN: Final[tuple[tuple[str, str, tuple[Transport, ...]], ...]] = (
    ("claude-code", "Claude Code", _ALL),
    ("claude", "Claude Code (.mcp.json)", _ALL),
    ("claude-desktop", "Claude Desktop", _ALL),
    # It finds out by itself which of the two a server speaks.
    ("cursor", "Cursor", ("streamable-http", "stdio")),
    ("vscode", "VS Code", _ALL),
    ("n8n", "n8n", _HTTP),
)


def client_helps(
    *, url: str, credential: Credential | None, stdio: bool = False
) -> list[ClientHelp]:
    """Every client. `stdio` where the reader may start programs on the server's machine."""
    return [
        ClientHelp(
            kind,
            name,
            tuple(
                Way(
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
