"""What the MCP server keeps, as the API answers it. No secret is ever part of it."""

from __future__ import annotations

from accounts.presenters import account_token
from core.json import JsonObject
from mcp_bridge.models import McpToken


def mcp_token(of: McpToken) -> JsonObject:
    """A token of an AI client, by its last four characters."""
    return {**account_token(of), "tools": [*of.tools], "diagnostics": of.diagnostics}
