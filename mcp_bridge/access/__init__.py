"""Access to the MCP server: credentials, tokens, rate limits."""
