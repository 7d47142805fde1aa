"""The admin of the MCP server: the tokens of AI clients, and the log of their calls."""

from mcp_bridge.admin import calls, tokens

__all__ = ["calls", "tokens"]
