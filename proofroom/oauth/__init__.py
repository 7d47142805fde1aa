"""The OAuth authorization server of the site. It lets people connect AI clients to the MCP server."""
