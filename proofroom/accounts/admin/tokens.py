"""API tokens: made, shown once, revoked."""

from __future__ import annotations

from itertools import groupby
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy

from proofroom.accounts.admin.account_tokens import AccountTokenAdmin, LastDayField
from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.roles import PERMISSIONS, Role
from proofroom.accounts.services.tokens import create_token, revoke_token
from proofroom.core.actor import Actor


class NewTokenForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("What uses it, such as “Website export”."),
    )
    user = forms.ModelChoiceField(
        label=gettext_lazy("Account"),
        queryset=User.objects.filter(is_active=True).exclude(role=Role.AI_AGENT),
        help_text=gettext_lazy("What the program writes is signed by this account."),
    )
    permissions = forms.MultipleChoiceField(
        label=gettext_lazy("Permissions"),
        choices=[
            (part, [(name, name) for name in names])
            for part, names in groupby(sorted(PERMISSIONS), lambda name: name.partition(".")[0])
        ],
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Only what the account may do itself."),
    )
    expires_at = LastDayField()


@admin.register(ApiToken)
class ApiTokenAdmin(AccountTokenAdmin[ApiToken]):
    empty_words = gettext_lazy(
        "A token lets a program use the API under an account, and only with the permissions that you give it."
    )
    list_title = gettext_lazy("API tokens")
    add_title = gettext_lazy("New API token")
    add_form = NewTokenForm
    page_template = "admin/proofroom_accounts/api_token.html"

    def make(self, typed: dict[str, Any], actor: Actor) -> tuple[ApiToken, str]:
        return create_token(
            name=typed["name"],
            permissions=typed["permissions"],
            user_id=typed["user"].pk,
            expires_at=typed["expires_at"],
            actor=actor,
        )

    def revoke(self, token_id: UUID, actor: Actor) -> None:
        revoke_token(token_id=token_id, actor=actor)
