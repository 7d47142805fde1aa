"""Event types of connected AI clients."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("mcp_client.connected", "AI client connected", "tokens.manage"),
    EventKind("mcp_client.limited", "AI client limited to part of the content", "tokens.manage"),
    EventKind("mcp_client.disconnected", "AI client disconnected", "tokens.manage"),
    EventKind("mcp_client.token-reused", "Old token of an AI client used", "tokens.manage"),
)
