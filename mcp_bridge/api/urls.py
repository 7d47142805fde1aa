"""Addresses of the MCP server's tokens and its log under `/api/`."""

from __future__ import annotations

from django.urls import path

from mcp_bridge.api.calls import McpCallViewSet
from mcp_bridge.api.tokens import McpTokenViewSet

urlpatterns = [
    path("mcp-calls", McpCallViewSet.as_view({"get": "list"})),
    path("mcp-tokens", McpTokenViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "mcp-tokens/<str:token_id>",
        McpTokenViewSet.as_view({"get": "retrieve", "patch": "update", "delete": "destroy"}),
    ),
]
