"""The OpenAPI descriptions of what follows a run."""

from __future__ import annotations

from rest_framework import serializers

from agents_app.models import RunStatus
from core.api.schema import PAGES, MetaSchema

__all__ = ["PAGES", "CandidateListSchema", "TranscriptSchema"]


class CandidateSchema(serializers.Serializer[object]):
    """One try at a field. Its value is null unless it succeeded."""

    runId = serializers.UUIDField()
    value = serializers.JSONField(allow_null=True)
    note = serializers.CharField(allow_blank=True, help_text="What was said of the try before.")
    createdAt = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=RunStatus.choices)
    isStaged = serializers.BooleanField()


class CandidateListSchema(serializers.Serializer[object]):
    """All tries at a field, oldest first: at most the latest hundred."""

    data = CandidateSchema(many=True)  # type: ignore[assignment]  # a field of that name


class MessageSchema(serializers.Serializer[object]):
    """One message; a tool's name where one was called or answered."""

    n = serializers.IntegerField()
    role = serializers.ChoiceField(choices=["system", "user", "assistant", "tool"])
    name = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    isCut = serializers.BooleanField(help_text="Whether the end of it was not kept.")
    at = serializers.DateTimeField()


class TranscriptSchema(serializers.Serializer[object]):
    """What was said in a run, in order."""

    data = MessageSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
