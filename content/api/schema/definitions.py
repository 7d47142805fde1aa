"""The OpenAPI descriptions of module types and module groups."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from core.api.schema import PAGES, MetaSchema, query

WORD_MAX: Final = 200
SCOPES: Final = ["local", "global", "static"]
REGISTRY_PARAMETERS: Final = [query("postType", "A post type."), *PAGES]
STATIC_PARAMETERS: Final = [query("q", "Part of a name or description."), *PAGES]
GROUP_PARAMETERS: Final = [
    query("postType", "Groups of a post type."),
    query("q", "Part of a name or description."),
    *PAGES,
]


class GuidanceSchema(serializers.Serializer[object]):
    """When to choose a module."""

    layoutRoles = serializers.ListField(child=serializers.CharField())  # names of the wire
    useWhen = serializers.ListField(child=serializers.CharField())
    avoidWhen = serializers.ListField(child=serializers.CharField())
    compositionNotes = serializers.CharField(allow_blank=True)


class StaticModuleSchema(serializers.Serializer[object]):
    """A module type without props to edit."""

    type = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    description = serializers.CharField()
    icon = serializers.CharField(allow_blank=True)


class StaticModuleListSchema(serializers.Serializer[object]):
    """Static modules."""

    data = StaticModuleSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class RegisteredModuleSchema(StaticModuleSchema):
    """A module type, and whether posts of the type that was asked for may hold it."""

    allowedScopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    allowedPostTypes = serializers.ListField(
        child=serializers.CharField(), help_text="Empty: every post type."
    )
    aiGuidance = GuidanceSchema()
    allowed = serializers.BooleanField()
    excludedBecause = serializers.CharField(allow_null=True)


class ModuleTypeListSchema(serializers.Serializer[object]):
    """Module types."""

    data = RegisteredModuleSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class ModuleTypeSchema(StaticModuleSchema):
    """A module type with all that is needed to fill it."""

    allowedScopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    allowedPostTypes = serializers.ListField(child=serializers.CharField())
    aiGuidance = GuidanceSchema()
    propsSchema = serializers.DictField(help_text="JSON Schema 2020-12.")
    defaultProps = serializers.DictField()
    fieldTypes = serializers.DictField(
        child=serializers.CharField(), help_text="The field type of each prop."
    )


class PlaceSchema(serializers.Serializer[object]):
    """A module of a group."""

    type = serializers.CharField()
    scope = serializers.ChoiceField(choices=SCOPES)
    locked = serializers.BooleanField()
    props = serializers.DictField(help_text="Of a global module: its overrides.")
    globalSlug = serializers.CharField(allow_null=True)
    orderIndex = serializers.IntegerField(min_value=0)


class ModuleGroupSchema(serializers.Serializer[object]):
    """The modules that a new post starts with."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    description = serializers.CharField(allow_blank=True)
    postType = serializers.CharField()
    modules = PlaceSchema(many=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # likewise
        choices=["code", "stored"], help_text="Groups that are code cannot be changed here."
    )
    version = serializers.IntegerField(allow_null=True, help_text="Null for a group that is code.")


class ModuleGroupListSchema(serializers.Serializer[object]):
    """Module groups."""

    data = ModuleGroupSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class ModuleGroupDeletedSchema(serializers.Serializer[object]):
    """What was deleted."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    deleted = serializers.BooleanField()
