"""Tokens of AI clients: made, shown once with what a client needs to connect, revoked."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy

from mcp_bridge.access.tokens import create_token, revoke_token
from mcp_bridge.admin.connect import client_instructions
from mcp_bridge.call_log import principal_of
from mcp_bridge.client_config import token_credential
from mcp_bridge.models import McpToken
from mcp_bridge.transport.server_address import server_url
from proofroom.accounts.admin.account_tokens import AccountTokenAdmin, LastDayField
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.tools import all_tools

_Choices = list[tuple[str, list[tuple[str, str]]]]


def _tool_choices() -> _Choices:
    """The tools by group."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for tool in all_tools():
        groups.setdefault(tool.group.capitalize(), []).append((tool.name, tool.name))
    return sorted(groups.items())


class _AccountField(forms.ModelChoiceField):  # type: ignore[type-arg]  # it takes none when it runs
    def label_from_instance(self, user: Any) -> str:
        return f"{user.username} ({user.role})"


class NewMcpTokenForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("Which client it is for, such as “Claude on my laptop”."),
    )
    user = _AccountField(
        label=gettext_lazy("Account"),
        queryset=User.objects.filter(is_active=True),
        help_text=gettext_lazy(
            "The client may use the tools that this account may. It only ever proposes: nothing "
            "it does is live before a person approves it."
        ),
    )
    tools = forms.MultipleChoiceField(
        label=gettext_lazy("Tools"),
        required=False,
        choices=_tool_choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None chosen: all that the account may use."),
    )
    diagnostics = forms.BooleanField(
        label=gettext_lazy("Diagnostics"),
        required=False,
        help_text=gettext_lazy(
            "Also the tools that look into logs and into the server, whatever the account."
        ),
    )
    expires_at = LastDayField()


@admin.register(McpToken)
class McpTokenAdmin(AccountTokenAdmin[McpToken]):
    empty_words = gettext_lazy(
        "A token lets an AI client connect under an account. What it writes waits for a person."
    )
    list_title = gettext_lazy("MCP tokens")
    add_title = gettext_lazy("New MCP token")
    add_form = NewMcpTokenForm
    page_template = "admin/mcp_bridge/token.html"

    def make(self, typed: dict[str, Any], actor: Actor) -> tuple[McpToken, str]:
        return create_token(
            name=typed["name"],
            user_id=typed["user"].pk,
            tools=typed["tools"],
            diagnostics=typed["diagnostics"],
            expires_at=typed["expires_at"],
            actor=actor,
        )

    def revoke(self, token_id: UUID, actor: Actor) -> None:
        revoke_token(token_id=token_id, actor=actor)

    def more(self, request: HttpRequest, token: McpToken, secret: str) -> dict[str, Any]:
        calls = f"{reverse('admin:mcp_bridge_mcpcall_changelist')}?caller={principal_of(token)}"
        if not secret:
            return {"calls": calls}
        clients = client_instructions(url=server_url(), credential=token_credential(secret))
        return {"calls": calls, "clients": clients, "has_secret": True}
