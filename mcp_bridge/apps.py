"""The app configuration of the MCP server: its call log and its commands."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class McpBridgeConfig(AppConfig):
    name = "mcp_bridge"
    verbose_name = "AI clients (MCP)"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from mcp_bridge.access.server_access import notify_access_change
        from mcp_bridge.call_log import client_names
        from proofroom.core import outbox
        from proofroom.core.activity.presenters import name_lookups
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )

        name_lookups.register(client_names, name="client")
        ends_access = (
            "user.changed",
            "role.changed",
            "mcp_token.limited",
            "mcp_token.revoked",
            "mcp_client.connected",
            "mcp_client.disconnected",
            "mcp_client.limited",
            "mcp_client.token-reused",
        )
        outbox.subscribe_in_transaction(ends_access, notify_access_change)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("AI clients"),
                "admin:mcp-connect",
                "plug",
                permissions=(
                    "posts.edit",
                    "settings.manage",
                ),
                tabs=(
                    NavigationTab(gettext_lazy("Connect"), "admin:mcp-connect"),
                    NavigationTab(
                        gettext_lazy("Tokens"),
                        "admin:mcp_bridge_mcptoken_changelist",
                        "tokens.manage",
                    ),
                    NavigationTab(
                        gettext_lazy("Connected clients"),
                        "admin:proofroom_oauth_oauthconnection_changelist",
                        "tokens.manage",
                    ),
                    NavigationTab(
                        gettext_lazy("Calls"),
                        "admin:mcp_bridge_mcpcall_changelist",
                        "settings.manage",
                    ),
                ),
            ),
            order=30,
        )
