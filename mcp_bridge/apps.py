"""The MCP server as a Django app: its call log and its commands."""

from django.apps import AppConfig


class McpBridgeConfig(AppConfig):
    name = "mcp_bridge"
    verbose_name = "AI clients (MCP)"
    default_auto_field = "django.db.models.BigAutoField"
