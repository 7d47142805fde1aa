"""The admin of API tokens."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from proofroom.accounts.admin.account_tokens import (
    AccountTokenAdmin,
    AccountTokenForm,
    ProgramTokenAdmin,
)
from proofroom.accounts.models import ApiToken, DeliveryToken
from proofroom.accounts.permission_labels import label_of
from proofroom.accounts.services.delivery_tokens import (
    create_delivery_token,
    revoke_delivery_token,
)
from proofroom.accounts.services.tokens import create_token, limit_token, revoke_token
from proofroom.accounts.token_fields import NewApiToken, NewDeliveryToken
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.validation.form_fields import InputForm


class NewTokenForm(AccountTokenForm):
    input_class = NewApiToken
    asked_fields = ("name", "user_id", "permissions", "expires_at")


@admin.register(ApiToken)
class ApiTokenAdmin(AccountTokenAdmin[ApiToken]):
    empty_words = gettext_lazy(
        "A token lets a program use the API as an account, with only the permissions you select."
    )
    list_title = gettext_lazy("API tokens")
    add_title = gettext_lazy("New API token")
    add_form = NewTokenForm
    page_template = "admin/proofroom_accounts/api_token.html"

    def make(self, values: dict[str, Any], actor: Actor) -> tuple[ApiToken, str]:
        return create_token(**values, actor=actor)

    def limit(self, token_id: UUID, scope: ContentScope, actor: Actor) -> None:
        limit_token(token_id=token_id, scope=scope, actor=actor)

    def revoke(self, token_id: UUID, actor: Actor) -> None:
        revoke_token(token_id=token_id, actor=actor)

    def more(self, request: HttpRequest, token: ApiToken, secret: str) -> dict[str, Any]:
        permissions = [label_of(name) for name in sorted(token.permissions)]
        return {**super().more(request, token, secret), "permissions": permissions}


class NewDeliveryTokenForm(InputForm):
    input_class = NewDeliveryToken


@admin.register(DeliveryToken)
class DeliveryTokenAdmin(ProgramTokenAdmin[DeliveryToken]):
    empty_words = gettext_lazy(
        "A delivery token gives a frontend its own rate for reading what is published. It opens nothing else."
    )
    list_title = gettext_lazy("Delivery tokens")
    add_title = gettext_lazy("New delivery token")
    add_form = NewDeliveryTokenForm
    add_template = "admin/forms/one.html"
    page_template = "admin/proofroom_accounts/delivery_token.html"

    def make(self, values: dict[str, Any], actor: Actor) -> tuple[DeliveryToken, str]:
        return create_delivery_token(**values, actor=actor)

    def revoke(self, token_id: UUID, actor: Actor) -> None:
        revoke_delivery_token(token_id=token_id, actor=actor)

    def more(self, request: HttpRequest, token: DeliveryToken, secret: str) -> dict[str, Any]:
        return {"rate": token.rate or settings.THROTTLE_RATES["delivery"]}
