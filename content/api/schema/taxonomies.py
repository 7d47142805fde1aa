"""The OpenAPI descriptions of taxonomies and terms."""

from __future__ import annotations

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.api.schema import PAGES, MetaSchema, choice, query

TAXONOMY_PARAMETERS = PAGES
TERM_PARAMETERS = [
    query(
        "locale",
        "Terms of this language and those of every language; all without it.",
        choice(*settings.CMS_ENV.locales),
    ),
    *PAGES,
]
FORCE = [
    query("force", "true: also where posts carry it or drafts propose it.", choice("true", "false"))
]


class TaxonomyUseSchema(serializers.Serializer[object]):
    """A post type that is sorted by a taxonomy."""

    slug = serializers.CharField()
    maxSelections = serializers.IntegerField(allow_null=True, min_value=0)  # names of the wire


class TaxonomySchema(serializers.Serializer[object]):
    """A way to sort posts."""

    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    hierarchical = serializers.BooleanField()
    freeTagging = serializers.BooleanField()
    postTypes = TaxonomyUseSchema(many=True)


class TaxonomyListSchema(serializers.Serializer[object]):
    """Taxonomies."""

    data = TaxonomySchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class TermSchema(serializers.Serializer[object]):
    """A term. An empty `locale` stands for every language."""

    id = serializers.UUIDField()
    taxonomy = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    parentId = serializers.UUIDField(allow_null=True)
    locale = serializers.CharField(allow_blank=True)
    orderIndex = serializers.IntegerField()


class TermNodeSchema(TermSchema):
    """A term with those below it."""

    children = serializers.SerializerMethodField()

    @extend_schema_field({"type": "array", "items": {"$ref": "#/components/schemas/TermNode"}})
    def get_children(self, node: object) -> None:
        """Only describes; presenters answer."""


class TermListSchema(serializers.Serializer[object]):
    """The roots of a taxonomy, each with what stands below it. The total counts roots."""

    data = TermNodeSchema(many=True)  # type: ignore[assignment]  # likewise
    meta = MetaSchema()


class TermGoneSchema(serializers.Serializer[object]):
    """The term that was deleted."""

    id = serializers.UUIDField()
