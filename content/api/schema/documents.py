"""The OpenAPI descriptions of a whole post as one document: in a revision, and exported."""

from __future__ import annotations

from rest_framework import serializers

from content.api.schema.modules import LiveModuleSchema
from content.api.schema.post_fields import declare, stored
from content.models import Status
from content.post_fields import POST_FIELDS


@declare(stored(POST_FIELDS.values()), before="customFields")
class DocumentFieldsSchema(serializers.Serializer[object]):
    """The fields of a post."""

    type = serializers.CharField()
    locale = serializers.CharField()
    customFields = serializers.DictField()


class DocumentSchema(serializers.Serializer[object]):
    """The content of a post, as revisions keep it."""

    schemaVersion = serializers.IntegerField(min_value=1)
    post = DocumentFieldsSchema()
    taxonomyTermIds = serializers.ListField(child=serializers.UUIDField())
    modules = LiveModuleSchema(many=True)


class ExportFieldsSchema(DocumentFieldsSchema):
    """The fields of a post, with its status."""

    status = serializers.ChoiceField(choices=Status.values)


class ExportTranslationSchema(serializers.Serializer[object]):
    """The same post in another language."""

    id = serializers.UUIDField()
    locale = serializers.CharField()


class ExportSchema(DocumentSchema):
    """The live post as canonical JSON."""

    post = ExportFieldsSchema()
    translations = ExportTranslationSchema(many=True)
