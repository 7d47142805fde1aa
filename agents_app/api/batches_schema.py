"""The OpenAPI descriptions of batches."""

from __future__ import annotations

from rest_framework import serializers

from agents_app.api.schema import RejectedPostSchema, UsageSchema
from agents_app.models import RunStatus
from core.api.schema import PAGES, MetaSchema, PersonSchema

__all__ = ["PAGES", "BatchListSchema", "BatchSchema"]


class BatchProgressSchema(serializers.Serializer[object]):
    """Posts of a batch, by the status of the latest try at each."""

    total = serializers.IntegerField()
    finished = serializers.IntegerField()
    queued = serializers.IntegerField()
    running = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    timedOut = serializers.IntegerField()


class BatchEstimateSchema(serializers.Serializer[object]):
    """What it was expected to use, in tokens and US dollars."""

    inputTokens = serializers.IntegerField()
    outputTokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    mostCost = serializers.FloatField(allow_null=True)


class BatchRevertSchema(serializers.Serializer[object]):
    """How far taking it back is: `runs` are done."""

    askedAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(allow_null=True)
    runs = serializers.IntegerField()


class BatchInListSchema(serializers.Serializer[object]):
    """A batch."""

    id = serializers.UUIDField()
    agentId = serializers.CharField()
    by = PersonSchema()
    createdAt = serializers.DateTimeField()
    cancelledAt = serializers.DateTimeField(allow_null=True)
    isFinished = serializers.BooleanField()
    progress = BatchProgressSchema()
    usage = UsageSchema()
    cost = serializers.FloatField(allow_null=True)
    estimate = BatchEstimateSchema(allow_null=True)
    revert = BatchRevertSchema(allow_null=True)


class BatchResultSchema(serializers.Serializer[object]):
    """What came of one post: its latest try."""

    postId = serializers.UUIDField(allow_null=True)
    title = serializers.CharField(allow_blank=True)
    runId = serializers.UUIDField()
    status = serializers.ChoiceField(choices=RunStatus.choices)
    staged = serializers.IntegerField(help_text="Paths that it proposed.")
    summary = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_null=True)
    doing = serializers.CharField(allow_blank=True)
    tries = serializers.IntegerField()


class RunTakenBackSchema(serializers.Serializer[object]):
    """What taking back one run did, by paths, or why it could not."""

    runId = serializers.UUIDField()
    reverted = serializers.ListField(child=serializers.CharField())
    kept = serializers.ListField(child=serializers.CharField())
    unstaged = serializers.ListField(child=serializers.CharField())
    error = serializers.CharField(allow_null=True)


class BatchSchema(BatchInListSchema):
    """A batch, with what came of each post."""

    rejected = RejectedPostSchema(many=True)
    results = BatchResultSchema(many=True)
    reverted = RunTakenBackSchema(many=True)


class BatchListSchema(serializers.Serializer[object]):
    """Batches, latest first."""

    data = BatchInListSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
