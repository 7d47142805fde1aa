"""The OpenAPI descriptions of accounts, roles and tokens."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from accounts.roles import Role
from core.api.schema import MetaSchema

ROLES: Final = [role.value for role in Role]
STATES: Final = ["active", "expired", "revoked"]
_BOOLEAN: Final = {"type": "string", "enum": ["true", "false"]}
_ACCOUNT_ID: Final = {"type": "integer", "minimum": 0, "maximum": 2**53}
PATHS: Final = {"user_id": {"type": "integer", "minimum": 1}}


def _query(name: str, description: str, schema: dict[str, Any]) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=description)


_PAGES: Final = [
    _query("page", "1-based.", {"type": "integer", "minimum": 1, "maximum": 10_000_000}),
    _query("per_page", "20 by default.", {"type": "integer", "minimum": 1, "maximum": 100}),
]
USER_PARAMETERS: Final = [
    _query("role", "Accounts with this role.", {"type": "string", "enum": ROLES}),
    _query("active", "Accounts that are on, or off.", _BOOLEAN),
    _query("search", "A part of name or email.", {"type": "string", "maxLength": 200}),
    *_PAGES,
]
TOKEN_PARAMETERS: Final = [
    _query("userId", "Tokens of this account.", _ACCOUNT_ID),
    _query("active", "Tokens that open something, or no longer do.", _BOOLEAN),
    *_PAGES,
]
ROLE_PARAMETERS: Final = _PAGES


class AccountSchema(serializers.Serializer[object]):
    """An account."""

    id = serializers.IntegerField(min_value=1)
    email = serializers.EmailField(max_length=254)
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=ROLES)
    active = serializers.BooleanField()
    agentId = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    lastLoginAt = serializers.DateTimeField(allow_null=True)


class AccountListSchema(serializers.Serializer[object]):
    """Accounts by name."""

    data = AccountSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class GrantsSchema(serializers.Serializer[object]):
    """A role with what it may do."""

    role = serializers.ChoiceField(choices=ROLES)
    permissions = serializers.ListField(child=serializers.CharField())
    canLogIn = serializers.BooleanField()


class RoleListSchema(serializers.Serializer[object]):
    """Roles."""

    data = GrantsSchema(many=True)  # type: ignore[assignment]  # likewise
    meta = MetaSchema()


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """How `TokenAuthentication` reads in the document."""

    target_class = "accounts.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API token. It needs no CSRF token, and may do no more than its permissions say.",
        }
