"""Response and request schemas of posts, for the management and the delivery API. They include the declared post
fields."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, NotRequired, Required
from uuid import UUID

from drf_spectacular.utils import OpenApiExample
from pydantic import Field
from typing_extensions import TypedDict

from content.api.common_answers import StatusText
from content.api.module_entries import MOST, ModuleEntry
from content.document.post_fields import (
    LISTED_FIELDS,
    MAX_ID,
    POST_FIELDS,
    SLUG_MAX,
    TITLE_MAX,
    PostField,
)
from content.models import Status
from content.presenters.posts import (
    DeliveredModuleAnswer,
    DeliveredTranslationAnswer,
    Index,
    LayersAnswer,
    LiveModuleAnswer,
    ModuleAnswer,
    TranslationAnswer,
)
from content.store.post_queries import ORDERINGS
from proofroom.core.api.answer import Answer, MetaAnswer, Person, one_of
from proofroom.core.api.schema import LOCATION, PAGES, choice_schema, query_parameter

_BOOLEAN: Final = choice_schema("true", "false")
_WORDS: Final = {"type": "string", "maxLength": 200}
_ORDERINGS: Final = choice_schema(*(sign + name for name in ORDERINGS for sign in ("", "-")))
LIVE_PARAMETERS: Final = [
    query_parameter("type", "Post type."),
    query_parameter("locale", "Language code; the default locale without it."),
    query_parameter("allLocales", "true: every locale.", _BOOLEAN),
    query_parameter("slug", "Exact slug.", _WORDS),
    query_parameter("taxonomy", "A term's slug, or taxonomySlug:termSlug.", _WORDS),
    query_parameter("search", "Words in title, excerpt or content.", _WORDS),
    query_parameter(
        "ordering", "By what, - before it reversed.", {**_ORDERINGS, "default": "-updatedAt"}
    ),
    *PAGES,
]
LIST_PARAMETERS: Final = [
    *LIVE_PARAMETERS,
    query_parameter("status", "Status.", choice_schema(*Status.values)),
    query_parameter(
        "author",
        "The ID of an account: posts that name it as author.",
        {"type": "integer", "minimum": 1, "maximum": MAX_ID},
    ),
    query_parameter("hasReview", "Whether something waits in Review.", _BOOLEAN),
    query_parameter("hasAiReview", "Whether something waits in AI Review.", _BOOLEAN),
]
MADE: Final = [LOCATION]
NEW_POST: Final = OpenApiExample(
    "A blog post",
    {
        "type": "blog",
        "title": "How to brew filter coffee",
        "excerpt": "Three minutes, one filter.",
        "modules": [{"type": "hero", "props": {"title": "Filter coffee"}}],
    },
    request_only=True,
)
CHANGED_POST: Final = OpenApiExample(
    "Publish with a new title",
    {"title": "Filter coffee, step by step", "status": "published", "version": 3},
    request_only=True,
)
Version = Annotated[int, Field(ge=1)]
_TYPES: Final[dict[str, Any]] = {
    "json": dict[str, Any],
    "media": UUID,
    "post-reference": UUID,
    "moment": datetime,
    "number": int,
    "people": list[int],
}
"""Python types of field kinds that are not text."""
_ORDER_MAX: Final = 1_000_000


def _read(fields: Iterable[PostField]) -> dict[str, Any]:
    """Return the types of fields in responses."""
    found: dict[str, Any] = {}
    for field in fields:
        type_ = _TYPES.get(field.kind, Annotated[str, Field(max_length=field.max_length)])
        found[field.name] = type_ | None if field.is_nullable else type_
    return found


def _written(fields: Iterable[PostField]) -> dict[str, Any]:
    """Return the types of fields in requests. Null clears an optional field."""
    found: dict[str, Any] = {}
    for field in fields:
        type_ = _TYPES.get(
            field.kind,
            Annotated[
                str,
                Field(
                    min_length=1 if field.required else None,
                    max_length=field.max_length,
                    description="Lower-case-with-hyphens." if field.format == "slug" else None,
                ),
            ],
        )
        if field.kind == "number":
            type_ = Annotated[int, Field(ge=-_ORDER_MAX, le=_ORDER_MAX)]
        found[field.name] = type_ if field.required else type_ | None
    return found


# Type checkers can't see TypedDicts that are built at runtime.
if TYPE_CHECKING:

    class _ListedFields(TypedDict): ...

    class _LiveFields(TypedDict): ...

    class _OwnFields(TypedDict): ...

    class _StoredFields(TypedDict): ...

    class _WrittenFields(TypedDict): ...

else:
    _LISTED = {"slug", "title", "parentId", "orderIndex", "featuredMediaId"}
    _LISTED |= {field.name for field in LISTED_FIELDS}
    _ListedFields = TypedDict("_ListedFields", _read(LISTED_FIELDS))
    _LiveFields = TypedDict(
        "_LiveFields",
        _read(
            field for field in POST_FIELDS.values() if field.delivered and field.name not in _LISTED
        ),
    )
    _OwnFields = TypedDict(
        "_OwnFields", _read(field for field in POST_FIELDS.values() if not field.delivered)
    )
    # Documents of earlier versions may lack fields and may exceed today's limits.
    _StoredFields = TypedDict(
        "_StoredFields",
        {field.name: _TYPES.get(field.kind, str) | None for field in POST_FIELDS.values()},
    )
    _WrittenFields = TypedDict(
        "_WrittenFields",
        _written(field for field in POST_FIELDS.values() if field.name != "title"),
        total=False,
    )


class _ListedPost(_ListedFields):
    id: UUID
    type: str
    locale: str
    slug: Annotated[str, Field(max_length=SLUG_MAX)]
    title: Annotated[str, Field(max_length=TITLE_MAX)]
    status: StatusText
    url: Annotated[str, Field(description="The path on the site.")]
    parentId: UUID | None
    orderIndex: int
    featuredMediaId: UUID | None
    createdAt: datetime
    updatedAt: datetime
    publishedAt: datetime | None


class ListedLivePostAnswer(_ListedPost):
    """A published post in a list."""

    version: Version
    modules: list[DeliveredModuleAnswer]


class IncludedPostAnswer(_ListedPost):
    """A post that another one led to: the fields of lists but no modules, with custom fields and terms."""

    version: Version
    customFields: dict[str, Any]
    taxonomyTermIds: list[UUID]
    translations: NotRequired[list[DeliveredTranslationAnswer]]
    children: NotRequired[list[UUID]]


class ListedPostAnswer(_ListedPost):
    """A post in a list, with its live modules."""

    version: Version
    modules: list[LiveModuleAnswer]
    layers: LayersAnswer


class PostListAnswer(Answer):
    """Posts."""

    data: list[ListedPostAnswer]
    meta: MetaAnswer


class PublishedPostFields(_ListedPost, _LiveFields):
    """The fields of a published post, with its terms."""

    customFields: Annotated[
        dict[str, Any], Field(description="By the field names of the post type.")
    ]
    taxonomyTermIds: list[UUID]


class LivePostFields(PublishedPostFields):
    """The fields of a published post, with related data."""

    translations: list[TranslationAnswer]


class PageLockAnswer(TypedDict):
    """A lock of a page: until this time, others cannot change the post."""

    by: Person
    until: datetime


class PostAnswer(LivePostFields, _OwnFields):
    """A post with its modules in every layer."""

    version: Version
    author: Annotated[Person | None, Field(description="Who created the post.")]
    lock: Annotated[
        PageLockAnswer | None, Field(description="Set while only one person may change the post.")
    ]
    modules: list[ModuleAnswer]
    variationOf: Annotated[
        UUID | None, Field(description="The post that this one is a variation of.")
    ]
    variation: str | None
    weight: Annotated[int, Field(ge=1, le=100)] | None
    running: Annotated[
        bool | None,
        Field(
            description="Whether the variation is shown to visitors; null if the post is not a variation."
        ),
    ]
    isPlaceholder: Annotated[
        bool,
        Field(description="Whether an agent created the post and nothing in it was approved yet."),
    ]
    layers: LayersAnswer


class LeftOutAnswer(TypedDict):
    """A module or field of a template that the new post could not get, and why."""

    label: str
    reason: str


class CreatedPostAnswer(PostAnswer):
    """A new post with its modules in every layer."""

    leftOut: NotRequired[
        Annotated[
            list[LeftOutAnswer],
            Field(description="With a template: its parts that posts of the type no longer have."),
        ]
    ]


class DeletedAnswer(Answer):
    """The result of moving a post to the trash."""

    id: UUID
    deleted_at: datetime


class DocumentFieldsAnswer(_StoredFields):
    """The fields of a post."""

    type: str
    locale: str
    customFields: dict[str, Any]


class _DocumentParts(TypedDict):
    schemaVersion: Version
    taxonomyTermIds: list[UUID]
    modules: list[LiveModuleAnswer]


class DocumentAnswer(_DocumentParts):
    """The content of a post, as in revisions."""

    post: DocumentFieldsAnswer


class ExportFieldsAnswer(DocumentFieldsAnswer):
    """The fields of a post, with status and publication date."""

    status: StatusText
    publishedAt: datetime | None


class ExportTranslationAnswer(TypedDict):
    """The same post in another language."""

    id: UUID
    locale: str


class ExportAnswer(_DocumentParts):
    """The live post as canonical JSON."""

    post: ExportFieldsAnswer
    translations: list[ExportTranslationAnswer]


class PostFields(_WrittenFields, total=False):
    """The writable fields of a post."""

    customFields: Annotated[
        dict[str, Any], Field(description="Merged by name with the stored fields.")
    ]
    taxonomyTermIds: list[UUID]
    publishedAt: Annotated[
        datetime | None,
        Field(
            description="The first publication, in the past. Changing it needs `posts.publish`. Null is only "
            "allowed for a post that is not published."
        ),
    ]


class NewPost(PostFields, total=False):
    """A new post. Without `modules` and `template`, a module group is used."""

    type: Annotated[str, Field(min_length=1, description="Required without a template.")]
    template: Annotated[
        UUID | None,
        Field(description="A template to start from. Its values count where you send none."),
    ]
    title: Required[Annotated[str, Field(min_length=1, max_length=TITLE_MAX)]]
    locale: str | None
    status: Annotated[str, one_of(["draft", "published"])] | None
    modules: Annotated[list[ModuleEntry], Field(max_length=MOST)]
    moduleGroup: str | None


class PostChanges(PostFields, total=False):
    """Changes of a post; absent keys stay. Other keys of a GET response are ignored."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE_MAX)]
    status: StatusText | None
    modules: Annotated[
        list[dict[str, Any]],
        Field(description="Must be unchanged: modules have their own endpoints."),
    ]
    version: Annotated[Index | None, Field(description="The version you last read.")]
