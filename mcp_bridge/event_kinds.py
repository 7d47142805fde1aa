"""Events of AI clients."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("mcp.called", "MCP tool called", "settings.manage"),
    EventKind("mcp_token.created", "MCP token created", "tokens.manage"),
    EventKind("mcp_token.limited", "MCP token limited to part of the content", "tokens.manage"),
    EventKind("mcp_token.revoked", "MCP token revoked", "tokens.manage"),
)
