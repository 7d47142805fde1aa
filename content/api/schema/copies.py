"""The OpenAPI descriptions of translations, variations, preview links and the trash."""

from __future__ import annotations

from rest_framework import serializers

from content.models import Status
from core.api.schema import MetaSchema, PersonSchema


class UntranslatedModuleSchema(serializers.Serializer[object]):
    """A module of the source that the translation has none for."""

    sourcePostModuleId = serializers.UUIDField()  # names of the wire
    type = serializers.CharField()


class OrphanedModuleSchema(serializers.Serializer[object]):
    """A module of the translation whose source is gone."""

    postModuleId = serializers.UUIDField()
    sourcePostModuleId = serializers.UUIDField()


class TranslationStateSchema(serializers.Serializer[object]):
    """A translation, and how it stands to the post that it was made from."""

    id = serializers.UUIDField()
    locale = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    url = serializers.CharField(allow_blank=True)
    translatedFrom = serializers.UUIDField(
        allow_null=True, help_text="The post that it was made from; null for the first one."
    )
    stalePaths = serializers.ListField(
        child=serializers.CharField(),
        help_text="Its values whose source changed since they were written.",
    )
    newModules = UntranslatedModuleSchema(many=True)
    removedModules = OrphanedModuleSchema(many=True)


class TranslationListSchema(serializers.Serializer[object]):
    """The same post in other languages."""

    data = TranslationStateSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class VariationSchema(serializers.Serializer[object]):
    """Another version of a post's content."""

    id = serializers.UUIDField()
    variationOf = serializers.UUIDField()
    variation = serializers.CharField()
    weight = serializers.IntegerField(
        min_value=1, max_value=100, help_text="Percent of the visitors, while it runs."
    )
    running = serializers.BooleanField(help_text="Whether visitors of the original are shown it.")
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    version = serializers.IntegerField(min_value=1)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class RestSchema(serializers.Serializer[object]):
    """The original among its variations."""

    id = serializers.UUIDField()
    weight = serializers.IntegerField(
        min_value=0, max_value=100, help_text="Percent of the visitors: what running ones leave."
    )


class VariationListSchema(serializers.Serializer[object]):
    """The variations of a post."""

    data = VariationSchema(many=True)  # type: ignore[assignment]  # a field of that name
    original = RestSchema()
    meta = MetaSchema()


class TrashedPostSchema(serializers.Serializer[object]):
    """A post in the trash."""

    id = serializers.UUIDField()
    type = serializers.CharField()
    locale = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    variationOf = serializers.UUIDField(allow_null=True)
    variation = serializers.CharField(allow_null=True)
    deletedAt = serializers.DateTimeField()


class TrashSchema(serializers.Serializer[object]):
    """What was deleted."""

    data = TrashedPostSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


_LAYERS = ["source", "review", "ai-review"]


class PreviewLinkSchema(serializers.Serializer[object]):
    """A preview link, without its address."""

    id = serializers.UUIDField()
    layer = serializers.ChoiceField(choices=_LAYERS)
    expiresAt = serializers.DateTimeField()
    createdBy = PersonSchema()
    views = serializers.IntegerField(min_value=0)
    createdAt = serializers.DateTimeField()


class PreviewLinkListSchema(serializers.Serializer[object]):
    """The preview links of a post."""

    data = PreviewLinkSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class MadePreviewLinkSchema(serializers.Serializer[object]):
    """A new preview link. Its address is answered this once."""

    id = serializers.UUIDField()
    url = serializers.URLField()
    expiresAt = serializers.DateTimeField()
    layer = serializers.ChoiceField(choices=_LAYERS)


class RevokedSchema(serializers.Serializer[object]):
    """What revoking a preview link answers."""

    revoked = serializers.BooleanField()
