"""The OpenAPI descriptions of the agents' endpoints."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from agents_app.models import RunStatus
from agents_app.schema import Scope
from core.api.schema import MetaSchema

SCOPES = [(scope.value, scope.value) for scope in Scope]


def _query(
    name: str, description: str, *, enum: list[str] | None = None, type_: type = str
) -> OpenApiParameter:
    return OpenApiParameter(name, type_, OpenApiParameter.QUERY, description=description, enum=enum)


_PAGES = [
    _query("page", "1-based.", type_=int),
    _query("per_page", "1 to 100, 20 by default.", type_=int),
]
WAIT = [_query("wait", "Seconds to wait for the result, at most 60.", type_=int)]
AGENT_PARAMETERS = [
    _query("scope", "dropdown by default.", enum=[scope.value for scope in Scope]),
    _query("fieldType", "For the scope field: a field type."),
    _query("fieldKey", "For the scope field: a field, such as post.title."),
    _query("formSlug", "For the scope form.submit: a form."),
    *_PAGES,
]
RUN_PARAMETERS = [
    _query("postId", "Runs on a post."),
    _query("agentId", "Runs of an agent."),
    _query("status", "Status.", enum=list(RunStatus.values)),
    *_PAGES,
]


class AgentSchema(serializers.Serializer[object]):
    """An agent."""

    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    scopes = serializers.ListField(child=serializers.DictField())
    openEndedContext = serializers.DictField()  # names of the wire


class AgentListSchema(serializers.Serializer[object]):
    """Agents."""

    data = AgentSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class UsageSchema(serializers.Serializer[object]):
    """Tokens of a run."""

    inputTokens = serializers.IntegerField()
    outputTokens = serializers.IntegerField()


class StepSchema(serializers.Serializer[object]):
    """One question to the model, or one call of a tool."""

    n = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["model", "tool"])
    name = serializers.CharField()
    ok = serializers.BooleanField()
    ms = serializers.IntegerField()
    summary = serializers.CharField(allow_blank=True)


class RunSchema(serializers.Serializer[object]):
    """A run of an agent."""

    id = serializers.UUIDField()
    agentId = serializers.CharField()
    scope = serializers.ChoiceField(choices=SCOPES)
    postId = serializers.UUIDField(allow_null=True)
    status = serializers.ChoiceField(choices=RunStatus.choices)
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)
    by = serializers.DictField()
    via = serializers.CharField()
    provider = serializers.CharField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    usage = UsageSchema()
    cost = serializers.FloatField(allow_null=True)
    summary = serializers.CharField(allow_blank=True)
    staged = serializers.ListField(child=serializers.CharField())
    error = serializers.CharField(allow_null=True)
    steps = StepSchema(many=True)
    fieldKey = serializers.CharField(required=False)
    value = serializers.JSONField(required=False)


class RunListSchema(serializers.Serializer[object]):
    """Runs, latest first."""

    data = RunSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class RevertedSchema(serializers.Serializer[object]):
    """What reverting a run did: paths taken back, kept because people changed them, and no longer staged."""

    runId = serializers.UUIDField()
    reverted = serializers.ListField(child=serializers.CharField())
    kept = serializers.ListField(child=serializers.CharField())
    unstaged = serializers.ListField(child=serializers.CharField())


class RunInputSchema(serializers.Serializer[object]):
    """What a run on a post starts with."""

    scope = serializers.ChoiceField(choices=["dropdown", "field"], required=False)
    context = serializers.DictField(required=False)  # type: ignore[assignment]  # likewise
    openEndedContext = serializers.CharField(required=False)
    fieldKey = serializers.CharField(required=False)
    postModuleId = serializers.UUIDField(required=False)


class GlobalRunInputSchema(serializers.Serializer[object]):
    """What a run from anywhere starts with."""

    postId = serializers.UUIDField(required=False)
    context = serializers.DictField(required=False)  # type: ignore[assignment]  # likewise
    openEndedContext = serializers.CharField(required=False)


class TriggerInputSchema(GlobalRunInputSchema):
    """What a run from outside starts with."""

    scope = serializers.ChoiceField(choices=SCOPES, required=False)
