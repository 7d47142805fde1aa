"""The OpenAPI descriptions of URL patterns."""

from __future__ import annotations

from rest_framework import serializers

from content.models.url_pattern import PATTERN_MAX
from core.api.schema import PAGES, MetaSchema

PATTERN_PARAMETERS = PAGES


class UrlPatternSchema(serializers.Serializer[object]):
    """What the addresses of a post type look like in a locale. `pending` while posts are still being moved."""

    id = serializers.UUIDField()
    type = serializers.CharField()
    locale = serializers.CharField()
    pattern = serializers.CharField(max_length=PATTERN_MAX)
    pending = serializers.BooleanField()
    version = serializers.IntegerField(min_value=1)
    createdAt = serializers.DateTimeField()  # names of the wire
    updatedAt = serializers.DateTimeField()


class UrlPatternListSchema(serializers.Serializer[object]):
    """URL patterns, by type and locale."""

    data = UrlPatternSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class UrlPatternGoneSchema(serializers.Serializer[object]):
    """The pattern that was deleted."""

    id = serializers.UUIDField()
