"""`/api/public/…`: live, published content for frontends and CDNs. Never reads staged content."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Final, Literal, NotRequired, cast
from urllib.parse import urlencode
from uuid import UUID

import orjson
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict, get_type_hints

from content.api import post_lists
from content.api.cached_delivery import DeliveredViewSet
from content.api.delivered_posts import render_post
from content.api.post_answers import LIVE_PARAMETERS, ListedLivePostAnswer, LivePostFields
from content.models.post import VARIATION_PATTERN
from content.presenters.delivered_texts import TEXT_FORMATS, TextFormat
from content.presenters.posts import DeliveredModuleAnswer
from content.store.scopes import post_not_found
from media.presenters import FocalPoint, Variants
from proofroom.core.api.answer import Answer, MetaAnswer, described
from proofroom.core.api.pagination import HasQuery
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.schema import choice_schema, parameter_names, query_parameter
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.content_tags import ANY_TYPE, EVERYTHING, depend_on, tag_of_list
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.database.row_counts import RowCount
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject


class DeliveredMediaAnswer(TypedDict):
    """A file used by a post. `variants` is empty until they are generated."""

    url: str
    mime: str
    alt: str
    width: Annotated[int, Field(ge=1)] | None
    height: Annotated[int, Field(ge=1)] | None
    variants: Variants
    darkVariants: Variants
    focalPoint: FocalPoint | None


class ApproverAnswer(TypedDict):
    """The last person who approved AI work: the role, and the name if the person agreed."""

    role: str
    name: str | None


class DisclosureOfPostAnswer(TypedDict):
    """AI work in a post: `generated` is all of the text, unedited, `assisted` a part of it or edited text."""

    share: Annotated[
        int, Field(ge=0, le=100, description="The share of the text that AI wrote, in percent.")
    ]
    kind: Literal["none", "generated", "assisted"]
    digitalSourceType: Annotated[
        str | None, Field(description="The digital source type of IPTC; null without AI work.")
    ]
    approvedBy: ApproverAnswer | None


class ArmAnswer(TypedDict):
    """A running variation."""

    id: UUID
    variation: str
    weight: Annotated[
        int,
        Field(
            ge=1,
            le=100,
            description="The share of visitors, in percent. The original gets the rest.",
        ),
    ]


class DeliveredPostAnswer(LivePostFields):
    """A published post, with the files of its fields and modules by id."""

    modules: list[DeliveredModuleAnswer]
    media: dict[str, DeliveredMediaAnswer]
    variations: NotRequired[
        Annotated[
            list[ArmAnswer], Field(description="Set while variations of the post are running.")
        ]
    ]
    variationOf: NotRequired[
        Annotated[UUID, Field(description="The original post, which this variation replaces.")]
    ]
    variation: NotRequired[Annotated[str, Field(description="The name of this variation.")]]
    disclosure: NotRequired[
        Annotated[
            DisclosureOfPostAnswer,
            Field(description="Set if the post's type discloses AI work to visitors."),
        ]
    ]


LISTED: Final = frozenset(get_type_hints(ListedLivePostAnswer))
LISTABLE: Final = LISTED | {"media"}
"""Fields available in lists. Files are included only if `fields` names them."""
WHOLE: Final = frozenset(get_type_hints(DeliveredPostAnswer))
FIELDS_MAX: Final = 500


def _fields(names: frozenset[str]) -> OpenApiParameter:
    one = "|".join(sorted(names))
    return query_parameter(
        "fields",
        f"Only these, with commas between them; all without it: {', '.join(sorted(names))}.",
        {"type": "string", "maxLength": FIELDS_MAX, "pattern": f"^({one})(,({one}))*$"},
    )


FIELDS: Final = _fields(WHOLE)
VARIATION: Final = query_parameter(
    "variation",
    "The running variation of that name in the place of the post; the post itself where none runs.",
    {"type": "string", "pattern": VARIATION_PATTERN},
)
LIST_FIELDS: Final = _fields(LISTABLE)
RICH_TEXT: Final = query_parameter(
    "richtext",
    "The format of rich text: the document, safe HTML, or Markdown.",
    {**choice_schema(*TEXT_FORMATS), "default": "json"},
)


def _sparse(name: str, doc: str, hints: dict[str, Any]) -> Any:
    """Return a TypedDict class with optional keys."""
    shape = TypedDict(name, hints, total=False)  # type: ignore[misc]  # a class created at runtime
    shape.__doc__ = doc
    return shape


SparseLivePost: Final = _sparse(
    "SparseLivePost",
    "A published post. Everything is there unless `fields` asks for less.",
    get_type_hints(DeliveredPostAnswer, include_extras=True),
)
SparseListedLivePost: Final = _sparse(
    "SparseListedLivePost",
    "A published post in a list. Everything but `media` is there unless `fields` asks for less, or for that too.",
    {
        **get_type_hints(ListedLivePostAnswer, include_extras=True),
        "media": dict[str, DeliveredMediaAnswer],
    },
)
_NAME: Final = re.compile(VARIATION_PATTERN, re.ASCII)


class SparseLivePostListAnswer(Answer):
    """Published posts."""

    data: list[SparseListedLivePost]  # type: ignore[valid-type]  # a class created at runtime
    meta: MetaAnswer


class PublicPostViewSet(DeliveredViewSet):
    """Published posts."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
    }
    tagged = frozenset(permissions)
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "list": parameter_names([*LIVE_PARAMETERS, LIST_FIELDS, RICH_TEXT]),
        "retrieve": parameter_names([FIELDS, VARIATION, RICH_TEXT]),
    }

    @extend_schema(
        parameters=[*LIVE_PARAMETERS, LIST_FIELDS, RICH_TEXT],
        responses=SparseLivePostListAnswer,
    )
    def list(self, request: Request) -> Response:
        """List published posts with their modules, or only the requested `fields`."""
        return Response(list_posts(request, self.live_state))

    @extend_schema(parameters=[FIELDS, VARIATION, RICH_TEXT], responses=described(SparseLivePost))
    def retrieve(self, request: Request, post_id: str) -> Response:
        """Return a published post, or only the requested `fields`."""
        body = read_post(request, post_id)
        if body is None:
            raise post_not_found(post_id)
        return Response(orjson.Fragment(body))


def list_posts(request: HasQuery, state: LiveState) -> JsonObject:
    """Return a page of published posts that match the query, at a state of the content."""
    fields = fields_of(request, LISTABLE)
    tag = tag_of_list(request.query_params.get("type") or ANY_TYPE)
    depend_on(tag)
    if fields and "media" in fields:
        # A page's files are not tracked as dependencies.
        depend_on(EVERYTHING)
    # Counting is the slow part, and all pages of a list with the same filters share the count.
    filters = post_lists.filters_of(request, staged=False)
    counted = f"count {urlencode(sorted(filters.items()))}"
    cached_total = cast("tuple[int, bool] | None", answers.get_value(state, counted))
    total = RowCount(*cached_total) if cached_total is not None else None
    listed = post_lists.post_list(
        request, fields=fields, total=total, text_format=text_format_of(request)
    )
    if total is None:
        meta = cast(JsonObject, listed["meta"])
        answers.put_value(state, counted, [meta["total"], "total_is_estimate" not in meta], tag)
    return listed


def read_post(request: HasQuery, post_id: str) -> bytes | None:
    """Return the JSON of a published post, or of the fields in the query; None if there is none."""
    fields = fields_of(request, WHOLE)
    variation, text_format = variation_of(request), text_format_of(request)
    try:
        found = render_post(UUID(post_id), fields, variation, text_format)
    except ValueError:
        return None
    if found is not None:
        depend_on(*found.depends_on)
    return found.body if found is not None else None


def variation_of(request: HasQuery) -> str:
    """Return the variation name from the query, or an empty string. 422 for an invalid name."""
    name = request.query_params.get("variation", "")
    if name and not _NAME.fullmatch(name):
        raise invalid("variation", "variation must be a name such as B.")
    return name


def text_format_of(request: HasQuery) -> TextFormat:
    """Return the format of rich text in the query. 422 for an unknown one."""
    value = request.query_params.get("richtext", "json")
    if value not in TEXT_FORMATS:
        raise invalid("richtext", f"richtext must be one of: {', '.join(TEXT_FORMATS)}.")
    return cast("TextFormat", value)


def fields_of(request: HasQuery, known: Collection[str]) -> Collection[str] | None:
    """Return the field names from the query, or None for all. 422 for a name outside `known`."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    # Cut before splitting, so that a huge parameter isn't processed; the length is refused below.
    wanted = {name.strip() for name in text[:FIELDS_MAX].split(",")}
    unknown = sorted(wanted.difference(known))
    if unknown or len(text) > FIELDS_MAX:
        raise invalid(
            "fields", f"fields must be a comma-separated list of: {', '.join(sorted(known))}."
        )
    return wanted
