"""The OpenAPI descriptions of workflows."""

from __future__ import annotations

from typing import Final, get_args

from rest_framework import serializers

from core.api.schema import MetaSchema
from core.conditions import Operator
from core.definition_files import ID_MAX, ID_PATTERN
from webhooks.api.schema import LastDeliverySchema

OPERATORS: Final = list(get_args(Operator))
WORKFLOW_ID: Final = {
    "workflow_id": {"type": "string", "pattern": ID_PATTERN, "maxLength": ID_MAX},
}


class ConditionSchema(serializers.Serializer[object]):
    """Whether the value at a dotted path is as it should be."""

    field = serializers.CharField()
    operator = serializers.ChoiceField(choices=OPERATORS)
    value = serializers.JSONField(allow_null=True)


class WorkflowFiltersSchema(serializers.Serializer[object]):
    """Which events count; an empty list lets all through."""

    types = serializers.ListField(child=serializers.CharField())
    locales = serializers.ListField(child=serializers.CharField())
    formSlugs = serializers.ListField(child=serializers.CharField())
    conditions = ConditionSchema(many=True)


class WorkflowSchema(serializers.Serializer[object]):
    """A workflow: a file, and whether it is on. Values of headers are never answered."""

    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    enabled = serializers.BooleanField()
    triggers = serializers.ListField(child=serializers.CharField())
    order = serializers.IntegerField()
    filters = WorkflowFiltersSchema()
    url = serializers.CharField()
    headers = serializers.DictField(child=serializers.CharField())
    payload = serializers.DictField(
        allow_null=True, help_text="What is sent, with placeholders; null: the whole event."
    )
    lastRun = LastDeliverySchema(allow_null=True)


class WorkflowListSchema(serializers.Serializer[object]):
    """Workflows, in ascending order."""

    data = WorkflowSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
