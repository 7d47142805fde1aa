"""The MCP server as a Django app: its call log and its commands."""

from django.apps import AppConfig


class McpBridgeConfig(AppConfig):
    name = "mcp_bridge"
    verbose_name = "AI clients (MCP)"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from mcp_bridge.access.server_access import tell_of_change
        from proofroom.core import outbox

        outbox.subscribe_inside(("user.changed", "mcp_token.revoked"), tell_of_change)
