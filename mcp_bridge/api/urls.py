"""URLs of the MCP server's tokens and its log under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

McpCallViewSet = LazyViewSet("mcp_bridge.api.calls.McpCallViewSet")
McpTokenViewSet = LazyViewSet("mcp_bridge.api.tokens.McpTokenViewSet")

urlpatterns = [
    path("mcp-calls", McpCallViewSet.as_view({"get": "list"})),
    path("mcp-tokens", McpTokenViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "mcp-tokens/<str:token_id>",
        McpTokenViewSet.as_view({"get": "retrieve", "patch": "update", "delete": "destroy"}),
    ),
]
