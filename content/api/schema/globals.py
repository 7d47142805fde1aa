"""The OpenAPI descriptions of global modules."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from content.models import Status
from core.api.schema import PAGES, MetaSchema, PersonSchema, query

__all__ = [
    "GLOBAL_PARAMETERS",
    "PAGES",
    "WORD_MAX",
    "GlobalModuleDeletedSchema",
    "GlobalModuleListSchema",
    "GlobalModuleSchema",
    "GlobalModuleUsageListSchema",
    "ModuleRevisionListSchema",
]
WORD_MAX: Final = 200
GLOBAL_PARAMETERS: Final = [
    query("q", "Part of a label or slug."),
    query("type", "Module type."),
    *PAGES,
]


class GlobalModuleSchema(serializers.Serializer[object]):
    """A module that several posts share."""

    id = serializers.UUIDField()
    globalSlug = serializers.CharField()  # names of the wire
    type = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]  # a field of that name
    props = serializers.DictField()
    version = serializers.IntegerField(min_value=1)
    affectedPosts = serializers.IntegerField(min_value=0, help_text="Posts that show it.")
    updatedAt = serializers.DateTimeField()
    schema = serializers.DictField(
        required=False, allow_null=True, help_text="`{type, propsSchema, defaultProps}`."
    )


class GlobalModuleListSchema(serializers.Serializer[object]):
    """Global modules."""

    data = GlobalModuleSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class GlobalModuleDeletedSchema(serializers.Serializer[object]):
    """What was deleted."""

    id = serializers.UUIDField()
    globalSlug = serializers.CharField()
    deleted = serializers.BooleanField()


class GlobalModuleUseSchema(serializers.Serializer[object]):
    """A post that places a global module."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    type = serializers.CharField()
    locale = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    layer = serializers.ChoiceField(choices=["source", "review", "ai-review"])
    url = serializers.CharField()


class GlobalModuleUsageListSchema(serializers.Serializer[object]):
    """Where a global module is placed."""

    data = GlobalModuleUseSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class ModuleRevisionSchema(serializers.Serializer[object]):
    """What a global module was."""

    id = serializers.UUIDField()
    version = serializers.IntegerField(min_value=1)
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]  # a field of that name
    props = serializers.DictField()
    reason = serializers.ChoiceField(
        choices=["before", "created", "edited", "reverted", "find-replace"]
    )
    by = PersonSchema()
    createdAt = serializers.DateTimeField()


class ModuleRevisionListSchema(serializers.Serializer[object]):
    """What a global module was, newest first."""

    data = ModuleRevisionSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
