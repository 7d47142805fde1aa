"""The admin of the MCP server: tokens of AI clients, and the call log."""

from mcp_bridge.admin import calls, tokens

__all__ = ["calls", "tokens"]
