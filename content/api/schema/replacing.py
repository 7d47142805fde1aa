"""The OpenAPI descriptions of find and replace."""

from __future__ import annotations

from rest_framework import serializers

from core.api.schema import PAGES, MetaSchema, PersonSchema

__all__ = ["PAGES", "ReplacedSchema", "ReplacementListSchema", "UndoneSchema"]


class _WhereSchema(serializers.Serializer[object]):
    table = serializers.CharField()
    id = serializers.CharField()
    field = serializers.CharField()


class KeptPlaceSchema(_WhereSchema):
    """A place that stayed as it is."""


class ReplacedPlaceSchema(_WhereSchema):
    """A place, with the texts around where they differ."""

    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class ReplacedSchema(serializers.Serializer[object]):
    """What was replaced, or would be."""

    id = serializers.UUIDField(allow_null=True, help_text="To undo it; null where nothing was.")
    dryRun = serializers.BooleanField()  # names of the wire
    total = serializers.IntegerField(min_value=0)
    tables = serializers.DictField(child=serializers.IntegerField(min_value=0))
    sample = ReplacedPlaceSchema(many=True, help_text="The first fifty places.")


class ReplacementSchema(serializers.Serializer[object]):
    """A text that was replaced by another."""

    id = serializers.UUIDField()
    find = serializers.CharField()
    replace = serializers.CharField(allow_blank=True)
    caseSensitive = serializers.BooleanField()
    total = serializers.IntegerField(min_value=0)
    tables = serializers.DictField(child=serializers.IntegerField(min_value=0))
    by = PersonSchema()
    createdAt = serializers.DateTimeField()
    undoneAt = serializers.DateTimeField(allow_null=True)


class ReplacementListSchema(serializers.Serializer[object]):
    """What was replaced, the latest first."""

    data = ReplacementSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class UndoneSchema(serializers.Serializer[object]):
    """What undoing did."""

    id = serializers.UUIDField()
    restored = serializers.IntegerField(min_value=0)
    keptTotal = serializers.IntegerField(min_value=0)
    kept = KeptPlaceSchema(many=True, help_text="The first fifty of those that stayed.")
