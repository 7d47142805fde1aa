"""Tokens of AI clients: creation, one-time display with client configurations, revocation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy

from mcp_bridge.access.token_fields import NewMcpToken
from mcp_bridge.access.tokens import create_token, limit_token, revoke_token
from mcp_bridge.admin.connect import client_instructions
from mcp_bridge.call_log import principal_of
from mcp_bridge.client_config import token_credential
from mcp_bridge.models import McpToken
from mcp_bridge.server_address import server_url
from proofroom.accounts.admin.account_tokens import AccountTokenAdmin, AccountTokenForm
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope


class NewMcpTokenForm(AccountTokenForm):
    input_class = NewMcpToken


@admin.register(McpToken)
class McpTokenAdmin(AccountTokenAdmin[McpToken]):
    empty_words = gettext_lazy(
        "A token connects an AI client to an account. Everything the client "
        "writes needs approval by a person."
    )
    list_title = gettext_lazy("MCP tokens")
    add_title = gettext_lazy("New MCP token")
    add_form = NewMcpTokenForm
    page_template = "admin/mcp_bridge/token.html"

    def make(self, values: dict[str, Any], actor: Actor) -> tuple[McpToken, str]:
        return create_token(**values, actor=actor)

    def limit(self, token_id: UUID, scope: ContentScope, actor: Actor) -> None:
        limit_token(token_id=token_id, scope=scope, actor=actor)

    def revoke(self, token_id: UUID, actor: Actor) -> None:
        revoke_token(token_id=token_id, actor=actor)

    def more(self, request: HttpRequest, token: McpToken, secret: str) -> dict[str, Any]:
        calls = f"{reverse('admin:mcp_bridge_mcpcall_changelist')}?caller={principal_of(token)}"
        context = {**super().more(request, token, secret), "calls": calls}
        if not secret:
            return context
        clients = client_instructions(url=server_url(), credential=token_credential(secret))
        return {**context, "clients": clients, "has_secret": True}
