"""The OpenAPI descriptions of the tokens of AI clients."""

from __future__ import annotations

from rest_framework import serializers

from accounts.api.account_schema import AccountTokenSchema
from core.api.schema import MetaSchema


class McpTokenSchema(AccountTokenSchema):
    """A token of an AI client, by the last four characters of its secret."""

    tools = serializers.ListField(child=serializers.CharField(), max_length=200)
    diagnostics = serializers.BooleanField()


class MadeMcpTokenSchema(McpTokenSchema):
    """A token with its secret, which is answered this once."""

    token = serializers.CharField()


class McpTokenListSchema(serializers.Serializer[object]):
    """Tokens, newest first."""

    data = McpTokenSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
