"""The OpenAPI descriptions of modules."""

from __future__ import annotations

from rest_framework import serializers

from content.api.answers import SCOPES, WRITTEN
from core.api.schema import MetaSchema


class ModuleShapeSchema(serializers.Serializer[object]):
    """What a module of a type may hold."""

    type = serializers.CharField()
    propsSchema = serializers.DictField(help_text="JSON Schema 2020-12.")  # names of the wire
    defaultProps = serializers.DictField()


class LiveModuleSchema(serializers.Serializer[object]):
    """A module as visitors get it. Put `overrides` on top of `props`."""

    postModuleId = serializers.UUIDField()
    moduleInstanceId = serializers.UUIDField()
    type = serializers.CharField()
    scope = serializers.ChoiceField(choices=SCOPES)
    orderIndex = serializers.IntegerField(min_value=0)
    locked = serializers.BooleanField()
    props = serializers.DictField()
    overrides = serializers.DictField(allow_null=True)
    globalSlug = serializers.CharField(allow_null=True)


class ModuleSchema(LiveModuleSchema):
    """A module with its values in each layer; null where a layer changes nothing."""

    props = serializers.DictField(
        allow_null=True, help_text="null for a module that is staged only."
    )
    reviewProps = serializers.DictField(allow_null=True)
    reviewOverrides = serializers.DictField(allow_null=True)
    reviewRemoved = serializers.BooleanField(required=False)
    aiReviewProps = serializers.DictField(allow_null=True)
    aiReviewOverrides = serializers.DictField(allow_null=True)
    aiReviewRemoved = serializers.BooleanField(required=False)
    schema = ModuleShapeSchema(allow_null=True)


class WrittenModuleSchema(ModuleSchema):
    """A module after a write, with the post that it stands in."""

    postId = serializers.UUIDField()
    version = serializers.IntegerField(min_value=1, help_text="Of the post.")


class ModuleListSchema(serializers.Serializer[object]):
    """Every module of a post, in order; those that are staged only come last."""

    data = ModuleSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
    version = serializers.IntegerField(min_value=1, help_text="Of the post.")


class RemovedModuleSchema(serializers.Serializer[object]):
    """What removing a module answers."""

    postModuleId = serializers.UUIDField()
    removed = serializers.BooleanField()
    version = serializers.IntegerField(min_value=1, help_text="Of the post.")


class OrderedModulesSchema(serializers.Serializer[object]):
    """The modules of the live post in their order."""

    order = serializers.ListField(child=serializers.UUIDField())
    version = serializers.IntegerField(min_value=1, help_text="Of the post.")


class ModuleEntrySchema(serializers.Serializer[object]):
    """A module of a new post."""

    type = serializers.CharField()
    props = serializers.DictField(required=False, allow_null=True, help_text=WRITTEN)
    overrides = serializers.DictField(required=False, allow_null=True, help_text=WRITTEN)
    scope = serializers.CharField(required=False, allow_null=True)
    globalSlug = serializers.CharField(required=False, allow_null=True)
    locked = serializers.BooleanField(required=False)
