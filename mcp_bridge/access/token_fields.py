"""Fields of MCP tokens: user input and API answers."""

from __future__ import annotations

from typing import Annotated, Any

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import Field

from mcp_bridge.access.tool_sets import ToolSet
from proofroom.accounts.models import TOKEN_NAME_MAX, User
from proofroom.accounts.scope_shapes import ScopeFields
from proofroom.accounts.token_fields import (
    AccountField,
    AccountTokenAnswer,
    LastDay,
    token_name_field,
)
from proofroom.core.api.body import Body, Words
from proofroom.core.tools import all_tools
from proofroom.core.tools.group_labels import tool_group_label
from proofroom.core.validation.form_fields import FormField


class McpTokenAnswer(AccountTokenAnswer):
    """A token of an AI client, by the last four characters of its secret."""

    tools: list[str] = Field(json_schema_extra={"maxItems": 200})
    diagnostics: bool
    starts_agents: bool
    tool_set: ToolSet


class MadeMcpTokenAnswer(McpTokenAnswer):
    """A token with its secret, which is answered only once."""

    token: str


class AccountWithRoleField(AccountField):
    """A field to choose an account, labelled with its role."""

    def label_from_instance(self, user: Any) -> str:
        return f"{user.username} ({user.role})"


def tool_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the tools by group."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for tool in all_tools():
        label = tool_group_label(tool.group)
        groups.setdefault(label, []).append((tool.name, tool.name))
    return sorted(groups.items())


class NewMcpToken(Body, answered_by=McpTokenAnswer):
    name: Annotated[
        Words,
        FormField(
            lambda: token_name_field(
                gettext_lazy("The client that uses this token, such as “Claude on my laptop”.")
            )
        ),
    ] = Field(min_length=1, max_length=TOKEN_NAME_MAX)
    user_id: Annotated[
        int,
        FormField(
            lambda: AccountWithRoleField(
                label=gettext_lazy("Account"),
                queryset=User.objects.filter(is_active=True),
                help_text=gettext_lazy(
                    "The client can use the same tools as this account. It can only "
                    "propose changes: nothing goes live until a person approves it."
                ),
            ),
            name="user",
        ),
    ] = Field(ge=1, le=2**53)
    tools: Annotated[
        list[Annotated[Words, Field(max_length=128)]],
        FormField(
            lambda: forms.MultipleChoiceField(
                label=gettext_lazy("Tools"),
                required=False,
                choices=tool_choices,
                widget=forms.CheckboxSelectMultiple,
                help_text=gettext_lazy("Select nothing to allow all tools the account can use."),
            )
        ),
    ] = Field([], max_length=200)
    diagnostics: Annotated[
        bool,
        FormField(
            lambda: forms.BooleanField(
                label=gettext_lazy("Diagnostics"),
                required=False,
                help_text=gettext_lazy(
                    "Also allow tools that read logs and server status, whatever the "
                    "account’s permissions."
                ),
            )
        ),
    ] = False
    starts_agents: Annotated[
        bool,
        FormField(
            lambda: forms.BooleanField(
                label=gettext_lazy("May start agents"),
                required=False,
                initial=True,
                help_text=gettext_lazy(
                    "An agent proposes changes and costs money. With this, the client can "
                    "propose changes through an agent even if none of its tools stages any."
                ),
            )
        ),
    ] = True
    tool_set: Annotated[
        ToolSet,
        FormField(
            lambda: forms.TypedChoiceField(
                label=gettext_lazy("Tools in the client’s list"),
                required=False,
                empty_value="all",
                initial="all",
                choices=[
                    ("all", gettext_lazy("All tools")),
                    ("core", gettext_lazy("Core set")),
                ],
                help_text=gettext_lazy(
                    "A list with all tools costs the model about 15,000 tokens, the core set 2,500. "
                    "With the core set, the client finds and adds the others itself."
                ),
            )
        ),
    ] = "all"
    expires_at: LastDay = None
    scope: ScopeFields = Field(default_factory=ScopeFields)
