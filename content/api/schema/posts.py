"""The OpenAPI descriptions of posts, in the management and the delivery API."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from content.api.module_entries import MOST
from content.api.schema.documents import ExportSchema
from content.api.schema.modules import LiveModuleSchema, ModuleEntrySchema, ModuleSchema
from content.api.schema.post_fields import answered, declare, written
from content.models import Status
from content.post_fields import LISTED_FIELDS, POST_FIELDS, SLUG_MAX, TITLE_MAX
from content.queries import ORDERINGS
from core.api.schema import LOCATION, PAGES, MetaSchema, PersonSchema, choice, query

__all__ = ["ExportSchema"]

_BOOLEAN = choice("true", "false")
_WORDS = {"type": "string", "maxLength": 200}
_ORDERINGS = choice(*(sign + name for name in ORDERINGS for sign in ("", "-")))
LIVE_PARAMETERS = [
    query("type", "Post type."),
    query("locale", "Language code; the default locale without it."),
    query("allLocales", "true: every locale.", _BOOLEAN),
    query("slug", "Exact slug.", _WORDS),
    query("taxonomy", "A term's slug, or taxonomySlug:termSlug.", _WORDS),
    query("search", "Words in title, excerpt or content.", _WORDS),
    query("ordering", "By what, - before it reversed.", {**_ORDERINGS, "default": "-updatedAt"}),
    *PAGES,
]
LIST_PARAMETERS = [
    *LIVE_PARAMETERS,
    query("status", "Status.", choice(*Status.values)),
    query("hasReview", "Whether something waits in Review.", _BOOLEAN),
    query("hasAiReview", "Whether something waits in AI Review.", _BOOLEAN),
]
PATH_PARAMETER = [
    query(
        "path",
        "A path of the site, like /de/blog/x.",
        {"type": "string", "maxLength": 2000, "pattern": "^/"},
        required=True,
    )
]
MADE = [LOCATION]
NEW_POST = OpenApiExample(
    "A blog post",
    {
        "type": "blog",
        "title": "How to brew filter coffee",
        "excerpt": "Three minutes, one filter.",
        "modules": [{"type": "hero", "props": {"title": "Filter coffee"}}],
    },
    request_only=True,
)

CHANGED_POST = OpenApiExample(
    "Publish with a new title",
    {"title": "Filter coffee, step by step", "status": "published", "version": 3},
    request_only=True,
)


class LayerStateSchema(serializers.Serializer[object]):
    """Whether something waits in a layer, and who was there last."""

    exists = serializers.BooleanField()
    updatedAt = serializers.DateTimeField(allow_null=True)  # names of the wire
    updatedBy = PersonSchema(allow_null=True)
    version = serializers.IntegerField(min_value=0)


class LayersSchema(serializers.Serializer[object]):
    """What waits."""

    review = LayerStateSchema()
    aiReview = LayerStateSchema()


class TranslationSchema(serializers.Serializer[object]):
    """The same post in another language."""

    id = serializers.UUIDField()
    locale = serializers.CharField()


@declare(answered(LISTED_FIELDS), before="status")
class _ListedSchema(serializers.Serializer[object]):
    id = serializers.UUIDField()
    type = serializers.CharField()
    locale = serializers.CharField()
    slug = serializers.CharField(max_length=SLUG_MAX)
    title = serializers.CharField(max_length=TITLE_MAX)
    status = serializers.ChoiceField(choices=Status.values)
    url = serializers.CharField(allow_blank=True, help_text="The path on the site.")
    parentId = serializers.UUIDField(allow_null=True)
    orderIndex = serializers.IntegerField()
    featuredMediaId = serializers.UUIDField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()
    publishedAt = serializers.DateTimeField(allow_null=True)


class ListedLivePostSchema(_ListedSchema):
    """A published post in a list."""

    version = serializers.IntegerField(min_value=1)
    modules = LiveModuleSchema(many=True)


class ListedPostSchema(ListedLivePostSchema):
    """A post in a list, with its live modules."""

    layers = LayersSchema()


@declare(
    answered(
        field
        for name, field in POST_FIELDS.items()
        if field.delivered and name not in _ListedSchema._declared_fields
    ),
    before="customFields",
)
class LivePostSchema(_ListedSchema):
    """A published post."""

    customFields = serializers.DictField(help_text="By the names that the post type gives.")
    taxonomyTermIds = serializers.ListField(child=serializers.UUIDField())
    translations = TranslationSchema(many=True)
    modules = LiveModuleSchema(many=True)


@declare(answered(field for field in POST_FIELDS.values() if not field.delivered), before="author")
class PostSchema(LivePostSchema):
    """A post with its modules in every layer."""

    version = serializers.IntegerField(min_value=1)
    author = PersonSchema(allow_null=True)
    modules = ModuleSchema(many=True)
    variationOf = serializers.UUIDField(
        allow_null=True, help_text="The post that this one is a variation of."
    )
    variation = serializers.CharField(allow_null=True)
    weight = serializers.IntegerField(allow_null=True, min_value=1, max_value=100)
    running = serializers.BooleanField(
        allow_null=True, help_text="Whether visitors are shown it; null of what is no variation."
    )
    isPlaceholder = serializers.BooleanField(
        help_text="Made by an agent, and nothing of it approved yet."
    )
    layers = LayersSchema()


class LivePostListSchema(serializers.Serializer[object]):
    """Published posts."""

    data = ListedLivePostSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class PostListSchema(serializers.Serializer[object]):
    """Posts."""

    data = ListedPostSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


@declare(
    written(field for name, field in POST_FIELDS.items() if name != "title"), before="customFields"
)
class PostFieldsSchema(serializers.Serializer[object]):
    """The fields of a post that can be written."""

    customFields = serializers.DictField(required=False, help_text="Merged name by name.")
    taxonomyTermIds = serializers.ListField(child=serializers.UUIDField(), required=False)


class NewPostSchema(PostFieldsSchema):
    """A new post. Without `modules`, a module group is seeded."""

    type = serializers.CharField(min_length=1)
    title = serializers.CharField(min_length=1, max_length=TITLE_MAX)
    locale = serializers.CharField(required=False, allow_null=True)
    status = serializers.ChoiceField(
        choices=["draft", "published"], required=False, allow_null=True
    )
    modules = serializers.ListField(child=ModuleEntrySchema(), required=False, max_length=MOST)
    moduleGroup = serializers.CharField(required=False, allow_null=True)


class PostChangesSchema(PostFieldsSchema):
    """What to change of a post; what is absent stays. Other keys that a GET answers are ignored."""

    title = serializers.CharField(required=False, min_length=1, max_length=TITLE_MAX)
    status = serializers.ChoiceField(choices=Status.values, required=False, allow_null=True)
    modules = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Only as they were read: they are changed at their own addresses.",
    )
    version = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, help_text="Of the last read."
    )


class DeletedSchema(serializers.Serializer[object]):
    """What putting a thing into the trash answers."""

    id = serializers.UUIDField()
    deletedAt = serializers.DateTimeField()
