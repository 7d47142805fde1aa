"""The OpenAPI descriptions of what led to runs and what follows them."""

from __future__ import annotations

from rest_framework import serializers

from agents_app.api.schema import SCOPES
from agents_app.models import RunStatus
from agents_app.reactions.reading import STATUSES
from core.api.schema import MetaSchema, PersonSchema

REACTION_STATUSES = [(status, status) for status in STATUSES]
REACTION_TRIGGERS = [(name, name) for name in ("always", "on_success", "on_error", "on_condition")]


class ReactionSchema(serializers.Serializer[object]):
    """What followed a run. `number` is its place in the agent's file, `target` a host or the name of a tool."""

    number = serializers.IntegerField(min_value=1)
    type = serializers.ChoiceField(choices=["webhook", "chat", "mcp_tool"])
    trigger = serializers.ChoiceField(choices=REACTION_TRIGGERS)
    target = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=REACTION_STATUSES)
    attempts = serializers.IntegerField(min_value=0)
    nextAttemptAt = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    deliveryId = serializers.UUIDField(
        allow_null=True, help_text="Of a call to another system; people send it again there."
    )
    createdAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(allow_null=True)


class ReactionListSchema(serializers.Serializer[object]):
    """Reactions, in the order of the agent's file."""

    data = ReactionSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class LinkSchema(serializers.Serializer[object]):
    """An event or a run. Of an event that the caller may not learn of only `kind`, `name` and `at` are told."""

    kind = serializers.ChoiceField(choices=["event", "run"])
    id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField(help_text="The event, or the agent.")
    agentId = serializers.CharField(allow_null=True)
    scope = serializers.ChoiceField(choices=SCOPES, allow_null=True)
    status = serializers.ChoiceField(choices=RunStatus.choices, allow_null=True)
    postId = serializers.UUIDField(allow_null=True)
    at = serializers.DateTimeField()
    by = PersonSchema(allow_null=True)


class ChainSchema(serializers.Serializer[object]):
    """What led to a run and what it led to, each oldest first. The first cause says who began it all."""

    causes = LinkSchema(many=True)
    run = LinkSchema()
    caused = LinkSchema(many=True)
