"""What the database role of agents may do with the tables of the MCP server."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import writable

RIGHTS: Final = (
    *writable("mcp_bridge.McpToken", updates=("last_used_at",)),
    *writable("mcp_bridge.McpCall", inserts=True),
    *writable("mcp_bridge.McpProcess", inserts=True, updates=("seen_at",), deletes=True),
)
