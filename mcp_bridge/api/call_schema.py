"""The OpenAPI descriptions of the log of calls."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from core.api.schema import PAGES, MetaSchema, choice, query

MOMENT: Final = {"type": "string", "format": "date-time"}
CALL_PARAMETERS: Final = [
    query("tool", "Calls of a tool."),
    query("principal", "Calls with a credential: token, header, local or client:<id of a token>."),
    query("ok", "Calls that went well, or that did not.", choice("true", "false")),
    query("code", "Calls that were refused for this reason."),
    query("agentId", "Calls in the name of an agent."),
    query("since", "Calls from this time on.", MOMENT),
    query("until", "Calls before this time.", MOMENT),
    *PAGES,
]


class CallerSchema(serializers.Serializer[object]):
    """The account that the call was made as."""

    id = serializers.IntegerField(min_value=1)
    username = serializers.CharField()


class McpCallSchema(serializers.Serializer[object]):
    """One call of a tool. What was sent and answered is not kept, only how long it was."""

    id = serializers.IntegerField(min_value=1)
    tool = serializers.CharField()
    principal = serializers.CharField()
    caller = serializers.CharField(help_text="The name of the token, where it was made with one.")
    user = CallerSchema(allow_null=True)
    agentId = serializers.CharField(allow_null=True)
    ok = serializers.BooleanField()
    code = serializers.CharField(allow_null=True, help_text="Why it was refused.")
    ms = serializers.IntegerField(min_value=0)
    requestBytes = serializers.IntegerField(min_value=0)
    responseBytes = serializers.IntegerField(min_value=0)
    createdAt = serializers.DateTimeField()


class McpCallListSchema(serializers.Serializer[object]):
    """Calls, latest first."""

    data = McpCallSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
