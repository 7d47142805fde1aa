"""The site as an OAuth authorization server, which lets people connect AI clients to the MCP server."""
