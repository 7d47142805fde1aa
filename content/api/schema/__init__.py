"""The OpenAPI descriptions of content's endpoints."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers

from content.models import Status
from core.api.schema import MetaSchema

FREE = OpenApiTypes.OBJECT


def _query(
    name: str,
    description: str,
    *,
    enum: list[str] | None = None,
    type_: type[str] | type[int] = str,
) -> OpenApiParameter:
    return OpenApiParameter(
        name,
        type_,
        OpenApiParameter.QUERY,
        description=description,
        enum=enum,
    )


_BOOLEAN = ["true", "false"]
LIST_PARAMETERS = [
    _query("type", "Post type."),
    _query("status", "Status.", enum=list(Status.values)),
    _query("locale", "Language code; the default locale without it."),
    _query("allLocales", "true: every locale.", enum=_BOOLEAN),
    _query("slug", "Exact slug."),
    _query("taxonomy", "A term's slug, or taxonomySlug:termSlug."),
    _query("search", "Words in title, excerpt or content."),
    _query("hasReview", "Whether something waits in Review.", enum=_BOOLEAN),
    _query("hasAiReview", "Whether something waits in AI Review.", enum=_BOOLEAN),
    _query("ordering", "updatedAt, createdAt, publishedAt, title, slug or orderIndex; - reverses."),
    _query("page", "1-based.", type_=int),
    _query("per_page", "1 to 100, 20 by default.", type_=int),
]
LAYER_PARAMETER = [_query("layer", "The layer.", enum=["review", "ai-review"])]
COMPARE_PARAMETERS = [_query("from", "Id of a revision."), _query("to", "Id of a revision.")]
PATH_PARAMETER = [_query("path", "A path of the site, like /de/blog/x.")]


class ModuleSchema(serializers.Serializer[object]):
    """A module with its values in each layer."""

    postModuleId = serializers.UUIDField()  # names of the wire
    moduleInstanceId = serializers.UUIDField()
    type = serializers.CharField()
    scope = serializers.ChoiceField(choices=["local", "global", "static"])
    orderIndex = serializers.IntegerField()
    locked = serializers.BooleanField()
    props = serializers.DictField(allow_null=True)
    reviewProps = serializers.DictField(allow_null=True, required=False)
    aiReviewProps = serializers.DictField(allow_null=True, required=False)
    overrides = serializers.DictField(allow_null=True)
    reviewOverrides = serializers.DictField(allow_null=True, required=False)
    aiReviewOverrides = serializers.DictField(allow_null=True, required=False)
    globalSlug = serializers.CharField(allow_null=True)
    schema = serializers.DictField(required=False, allow_null=True)


class PostSchema(serializers.Serializer[object]):
    """A post."""

    id = serializers.UUIDField()
    type = serializers.CharField()
    locale = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    excerpt = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=Status.choices)
    metaTitle = serializers.CharField(allow_null=True, required=False)
    metaDescription = serializers.CharField(allow_null=True, required=False)
    canonicalUrl = serializers.CharField(allow_null=True, required=False)
    robotsJson = serializers.DictField(allow_null=True, required=False)
    jsonldOverrides = serializers.DictField(allow_null=True, required=False)
    featuredMediaId = serializers.UUIDField(allow_null=True)
    parentId = serializers.UUIDField(allow_null=True)
    orderIndex = serializers.IntegerField()
    publishAt = serializers.DateTimeField(allow_null=True, required=False)
    customFields = serializers.DictField(required=False)
    version = serializers.IntegerField(required=False)
    url = serializers.CharField()
    author = serializers.DictField(allow_null=True, required=False)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()
    publishedAt = serializers.DateTimeField(allow_null=True)
    taxonomyTermIds = serializers.ListField(child=serializers.UUIDField(), required=False)
    translations = serializers.ListField(child=serializers.DictField(), required=False)
    modules = ModuleSchema(many=True)
    layers = serializers.DictField(required=False)


class PostInputSchema(serializers.Serializer[object]):
    """What may be written of a post. Keys that only a GET answers are ignored."""

    title = serializers.CharField(required=False)
    slug = serializers.CharField(required=False)
    type = serializers.CharField(required=False)
    locale = serializers.CharField(required=False)
    status = serializers.ChoiceField(choices=Status.choices, required=False)
    excerpt = serializers.CharField(required=False)
    taxonomyTermIds = serializers.ListField(child=serializers.UUIDField(), required=False)
    modules = serializers.ListField(child=serializers.DictField(), required=False)
    version = serializers.IntegerField(required=False)


POST = PostSchema
POST_INPUT = PostInputSchema
MODULE = ModuleSchema
POST_LIST = inline_serializer("PostList", {"data": PostSchema(many=True), "meta": MetaSchema()})
MODULE_LIST = inline_serializer(
    "ModuleList", {"data": ModuleSchema(many=True), "meta": MetaSchema()}
)
FREE_LIST = inline_serializer(
    "FreeList", {"data": serializers.ListField(child=serializers.DictField()), "meta": MetaSchema()}
)
MODULE_INPUT = inline_serializer(
    "ModuleInput",
    {
        "type": serializers.CharField(required=False),
        "props": serializers.DictField(required=False),
        "overrides": serializers.DictField(required=False),
        "scope": serializers.CharField(required=False),
        "globalSlug": serializers.CharField(required=False),
        "locked": serializers.BooleanField(required=False),
        "orderIndex": serializers.IntegerField(required=False),
        "version": serializers.IntegerField(required=False),
    },
)
DELETED = inline_serializer(
    "Deleted", {"id": serializers.UUIDField(), "deletedAt": serializers.DateTimeField()}
)
CHANGES = inline_serializer(
    "Changes",
    {
        "postId": serializers.UUIDField(),
        "layer": serializers.CharField(),
        "version": serializers.IntegerField(),
        "baseVersion": serializers.IntegerField(),
        "digest": serializers.CharField(),
        "changes": serializers.ListField(child=serializers.DictField()),
    },
)
STAGED = inline_serializer(
    "Staged",
    {
        "postId": serializers.UUIDField(),
        "layer": serializers.CharField(),
        "version": serializers.IntegerField(),
        "staged": serializers.ListField(child=serializers.CharField()),
    },
)
SUBMITTED = inline_serializer(
    "Submitted",
    {
        "postId": serializers.UUIDField(),
        "submitted": serializers.ListField(child=serializers.CharField()),
        "conflicts": serializers.ListField(child=serializers.DictField()),
        "reviewVersion": serializers.IntegerField(),
    },
)
REJECTED = inline_serializer(
    "Rejected",
    {
        "postId": serializers.UUIDField(),
        "layer": serializers.CharField(),
        "rejected": serializers.ListField(child=serializers.CharField()),
    },
)
