"""`/api/public/posts`: live, published content for frontends and CDNs. Never reads staged content."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, ClassVar, Final, Literal, NotRequired, cast
from urllib.parse import urlencode
from uuid import UUID

import orjson
from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict, get_type_hints

from content.api import post_lists
from content.api.delivery.fallbacks import find_translation
from content.api.delivery.list_queries import (
    INCLUDE,
    PARAMETERS,
    ListQuery,
    is_filter_name,
    parse_list_query,
)
from content.api.delivery.lists import list_queried_posts
from content.api.delivery.page_heads import PageHeadAnswer
from content.api.delivery.rendered_posts import render_post
from content.api.delivery.viewset import DeliveredViewSet
from content.api.post_answers import (
    LIVE_PARAMETERS,
    IncludedPostAnswer,
    ListedLivePostAnswer,
    PublishedPostFields,
)
from content.models.post import VARIATION_PATTERN
from content.presenters.delivered_texts import TEXT_FORMATS, TextFormat
from content.presenters.embeds import DeliveredEmbedAnswer
from content.presenters.posts import DeliveredModuleAnswer, DeliveredTranslationAnswer
from content.presenters.related_content import Tree, load_included, parse_include
from content.store.scopes import post_not_found
from media.presenters import FocalPoint, Variants
from proofroom.core.api.answer import Answer, described
from proofroom.core.api.body import dumps
from proofroom.core.api.pagination import HasQuery
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import (
    choice_schema,
    names_pattern,
    parameter_names,
    query_parameter,
)
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.cache_tags import add_cache_tags, type_tag
from proofroom.core.caching.content_tags import ANY_TYPE, EVERYTHING, depend_on, tag_of_list
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.database.row_counts import RowCount
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom.definitions import post_types


class DeliveredMediaAnswer(TypedDict):
    """A file used by a post. `variants` is empty until they are generated."""

    url: str
    mime: str
    alt: str
    width: Annotated[int, Field(ge=1)] | None
    height: Annotated[int, Field(ge=1)] | None
    duration: Annotated[float, Field(ge=0, description="In seconds; of video and audio.")] | None
    poster: Annotated[str | None, Field(description="URL of the image before a video starts.")]
    captions: Annotated[dict[str, str], Field(description="URLs of the WebVTT files by language.")]
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


class TermOfPostAnswer(TypedDict):
    """A term of a post. `url` is the path of the list of posts of the same type with the term."""

    id: UUID
    taxonomy: str
    slug: str
    name: str
    url: str | None


class AncestorAnswer(TypedDict):
    """A published page above a post."""

    title: str
    url: str


class AuthorAnswer(TypedDict):
    """An author who chose a name for readers."""

    name: str


class DeliveredPostAnswer(PublishedPostFields):
    """A published post, with the files of its fields and modules by id."""

    authors: Annotated[
        list[AuthorAnswer],
        Field(description="Authors with a name for readers, in order. `byline` replaces them."),
    ]

    translations: list[DeliveredTranslationAnswer]
    terms: Annotated[list[TermOfPostAnswer], Field(description="In the order of the taxonomies.")]
    ancestors: Annotated[
        list[AncestorAnswer],
        Field(description="From the root down, without the home page and what is not published."),
    ]
    seo: PageHeadAnswer
    isFallback: NotRequired[
        Annotated[
            bool,
            Field(
                description="Set with `fallback`: true for a post in that language, not in the requested one."
            ),
        ]
    ]
    modules: list[DeliveredModuleAnswer]
    media: dict[str, DeliveredMediaAnswer]
    embeds: NotRequired[
        Annotated[
            dict[str, DeliveredEmbedAnswer],
            Field(
                description="With `modules`: what providers say about embedded addresses, by address. Build the "
                "player yourself: HTML of providers is never stored."
            ),
        ]
    ]
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


class IncludedTermAnswer(TypedDict):
    """A term of an included post. `url` is the path of its list, null if the post's type has none."""

    id: UUID
    taxonomy: str
    slug: str
    name: str
    parentId: UUID | None
    url: str | None


class IncludedAnswer(TypedDict):
    """What `include` asked for, each once, by id."""

    posts: dict[str, IncludedPostAnswer]
    media: dict[str, DeliveredMediaAnswer]
    terms: dict[str, IncludedTermAnswer]


IS_FALLBACK: Final = "isFallback"
"""A field that can be named as others, and is answered with `fallback` whether it is named or not."""
LISTED: Final = frozenset(get_type_hints(ListedLivePostAnswer))
"""Fields that lists have without `fields`."""
WHOLE: Final = frozenset(get_type_hints(DeliveredPostAnswer)) - {IS_FALLBACK}
LISTABLE: Final = LISTED | WHOLE
"""Fields available in lists: all that a single post has. Those besides `LISTED` only if `fields` names them."""
FIELDS_MAX: Final = 1_000


def _fields(names: frozenset[str]) -> OpenApiParameter:
    known = sorted({*names, IS_FALLBACK})
    return query_parameter(
        "fields",
        f"Only these, with commas between them; all without it: {', '.join(known)}.",
        {"type": "string", "maxLength": FIELDS_MAX, "pattern": names_pattern(known)},
    )


FIELDS: Final = _fields(WHOLE)
VARIATION: Final = query_parameter(
    "variation",
    "The name of a running variation to answer instead of the post. If none runs, the post itself is answered.",
    {"type": "string", "pattern": VARIATION_PATTERN},
)
LIST_FIELDS: Final = _fields(LISTABLE)
RICH_TEXT: Final = query_parameter(
    "richtext",
    "The format of rich text: the document, safe HTML, or Markdown.",
    {**choice_schema(*TEXT_FORMATS), "default": "json"},
)
FALLBACK: Final = query_parameter(
    "fallback",
    "The language to answer if the post is not published in the requested one; `isFallback` says whether it is used.",
)
LOCALE: Final = query_parameter(
    "locale",
    "With `fallback`: the requested language. Without `locale`, it is the language of the post.",
)
_LIST_PARAMETERS: Final = [
    *(one for one in LIVE_PARAMETERS if one.name != "ordering"),
    *PARAMETERS,
    FALLBACK,
    LIST_FIELDS,
    INCLUDE,
    RICH_TEXT,
]
_POST_PARAMETERS: Final = [FIELDS, VARIATION, LOCALE, FALLBACK, INCLUDE, RICH_TEXT]


def _sparse(name: str, doc: str, hints: dict[str, Any]) -> Any:
    """Return a TypedDict class with optional keys."""
    shape = TypedDict(name, hints, total=False)  # type: ignore[misc]  # a class created at runtime
    shape.__doc__ = doc
    return shape


_RELATED: Final = {
    "children": Annotated[list[UUID], Field(description="With include=children.")],
}
SparseLivePost: Final = _sparse(
    "SparseLivePost",
    "A published post. Everything is there unless `fields` asks for less.",
    {
        **get_type_hints(DeliveredPostAnswer, include_extras=True),
        **_RELATED,
        "included": Annotated[IncludedAnswer, Field(description="With `include`.")],
    },
)
SparseListedLivePost: Final = _sparse(
    "SparseListedLivePost",
    "A published post in a list, with the fields of lists unless `fields` asks for others. A module that lists posts "
    "has their ids in `posts` with `include=modules.posts`.",
    {
        **get_type_hints(DeliveredPostAnswer, include_extras=True),
        **get_type_hints(ListedLivePostAnswer, include_extras=True),
        **_RELATED,
    },
)
_NAME: Final = re.compile(VARIATION_PATTERN, re.ASCII)
_BARE_FILTER: Final = re.compile(r"([A-Za-z][A-Za-z.]{0,40})\[([a-z]{1,10})\]", re.ASCII)


class TermFacetAnswer(TypedDict):
    """The number of posts with a term."""

    id: UUID
    slug: str
    name: str
    count: Annotated[int, Field(ge=1)]


class TypeFacetAnswer(TypedDict):
    """The number of posts of a type."""

    value: str
    count: Annotated[int, Field(ge=1)]


class FacetsAnswer(TypedDict, total=False):
    """Counts of the posts that match all filters, at most 100 of each facet."""

    terms: list[TermFacetAnswer]
    type: list[TypeFacetAnswer]


class DeliveredMetaAnswer(BaseModel):
    """The position of a page in its list. With `after`, the answer has `next` instead of page numbers."""

    total: int = Field(ge=0)
    per_page: int = Field(ge=0)
    current_page: int = Field(1, ge=1)
    last_page: int = Field(1, ge=1)
    next: str | None = Field(None, description="The next `after`; null at the end of the list.")
    total_is_estimate: bool = False


class SparseLivePostListAnswer(Answer):
    """Published posts."""

    data: list[SparseListedLivePost]  # type: ignore[valid-type]  # a class created at runtime
    meta: DeliveredMetaAnswer
    included: Annotated[IncludedAnswer | None, Field(description="With `include`.")] = None
    facets: Annotated[FacetsAnswer | None, Field(description="With `facets`.")] = None


class PublicPostViewSet(DeliveredViewSet):
    """Published posts."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
    }
    tagged = frozenset(permissions)
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "list": parameter_names(_LIST_PARAMETERS),
        "retrieve": parameter_names(_POST_PARAMETERS),
    }

    def takes_parameter(self, action: str, name: str) -> bool:
        return action == "list" and is_filter_name(name)

    def suggest_parameter(self, name: str) -> str:
        # A filter without its name, such as `publishedAt[gte]`.
        found = _BARE_FILTER.fullmatch(name)
        return f"filter[{found[1]}][{found[2]}]" if found and self.action == "list" else ""

    @extend_schema(parameters=_LIST_PARAMETERS, responses=SparseLivePostListAnswer)
    def list(self, request: Request) -> Response:
        """List published posts with their modules, or only the requested `fields`."""
        return Response(list_posts(request, self.live_state))

    @extend_schema(parameters=_POST_PARAMETERS, responses=described(SparseLivePost))
    def retrieve(self, request: Request, post_id: str) -> Response:
        """Return a published post, or only the requested `fields`."""
        body = read_post(request, post_id)
        if body is None:
            raise post_not_found(post_id)
        return Response(orjson.Fragment(body))


def list_posts(request: HasQuery, state: LiveState) -> JsonObject:
    """Return a page of published posts that match the query, at a state of the content."""
    fields = fields_of(request, LISTABLE)
    query = parse_list_query(request)
    tag = tag_of_list(request.query_params.get("type") or ANY_TYPE)
    depend_on(tag)
    add_cache_tags(*_types_listed(request, shows_translations=_shows_translations(query, fields)))
    if fields and not fields <= LISTED:
        # The files, terms and translations of a page are not tracked as dependencies.
        depend_on(EVERYTHING)
    # Counting is the slow part, and all pages of a list with the same filters share the count.
    filters = post_lists.filters_of(request, staged=False)
    counted = f"count {urlencode(sorted(filters.items()))} {query.filter_text}"
    cached_total = cast("tuple[int, bool] | None", answers.get_value(state, counted))
    total = RowCount(*cached_total) if cached_total is not None else None
    text_format = text_format_of(request)
    if query.is_plain and (fields is None or fields <= LISTED | {"media"}):
        listed = post_lists.post_list(request, fields=fields, total=total, text_format=text_format)
    else:
        listed = list_queried_posts(
            request, query, fields=fields, listed=LISTED, total=total, text_format=text_format
        )
    if total is None:
        meta = cast(JsonObject, listed["meta"])
        answers.put_value(state, counted, [meta["total"], "total_is_estimate" not in meta], tag)
    return listed


def _shows_translations(query: ListQuery, fields: AbstractSet[str] | None) -> bool:
    """Return whether posts of a list name posts in other languages."""
    named = fields is not None and not fields.isdisjoint({"translations", "seo"})
    return named or (query.include is not None and "translations" in query.include)


def _types_listed(request: HasQuery, *, shows_translations: bool) -> list[str]:
    """Return the cache tags of the types and languages that a list shows."""
    query, env = request.query_params, settings.CMS_ENV
    asked = [one for one in (query.get("locale"), query.get("fallback")) if one]
    is_of_all = query.get("allLocales") == "true" or ("ids" in query and not query.get("locale"))
    if shows_translations or is_of_all:
        locales: Sequence[str] = env.locales
    else:
        locales = asked if query.get("locale") else [env.default_locale, *asked]
    types = [query["type"]] if query.get("type") else post_types.names()
    return [type_tag(type_, locale) for type_ in types for locale in locales]


def read_post(request: HasQuery, post_id: str) -> bytes | None:
    """Return the JSON of a published post, or of the fields in the query; None if there is none."""
    fields = fields_of(request, WHOLE)
    variation, text_format = variation_of(request), text_format_of(request)
    tree = include_of(request)
    fallback = choice_in(request, "fallback", settings.CMS_ENV.locales)
    locale = choice_in(request, "locale", settings.CMS_ENV.locales)
    try:
        id_ = UUID(post_id)
    except ValueError:
        return None
    is_fallback = None
    if fallback is not None:
        chosen = find_translation(id_, locale, fallback)
        if chosen is None:
            return None
        id_, is_fallback = chosen
    found = render_post(id_, fields, variation, text_format)
    if found is None:
        return None
    depend_on(*found.depends_on)
    body = found.body if is_fallback is None else with_fallback(found.body, is_fallback)
    if tree is None:
        return body
    posts, included = add_included({id_: body}, tree, text_format, found.variations)
    return dumps({**posts[id_], "included": included})


def include_of(request: HasQuery) -> Tree | None:
    """Return what a query about one post includes, or None. 422 for an unknown relation."""
    include = request.query_params.get("include")
    return parse_include(include, posts=1) if include is not None else None


def add_included(
    bodies: Mapping[UUID, bytes],
    tree: Tree,
    text_format: TextFormat,
    variations: Mapping[UUID, UUID] | None = None,
) -> tuple[dict[UUID, JsonObject], JsonObject]:
    """Return posts with members that name what they include, by id, and `included`, from the JSON of the posts.

    `variations`: as `load_included` takes them.
    """
    # Terms, global modules and moves change such an answer, too.
    depend_on(EVERYTHING)
    included = load_included([*bodies], tree, text_format, variations=variations)
    posts = {id_: included.add_to(id_, orjson.loads(body)) for id_, body in bodies.items()}
    return posts, included.as_wire()


def with_fallback(body: bytes, is_fallback: bool) -> bytes:
    """Return the JSON of a post with `isFallback`. The body is spliced, not parsed."""
    separator = b"" if body == b"{}" else b","
    return body[:-1] + separator + orjson.dumps({"isFallback": is_fallback})[1:]


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
    return value


def fields_of(request: HasQuery, known: Collection[str]) -> AbstractSet[str] | None:
    """Return the field names from the query without `isFallback`, or None for all. 422 for a name outside `known`."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    # Cut before splitting, so that a huge parameter isn't processed; the length is refused below.
    wanted = {name.strip() for name in text[:FIELDS_MAX].split(",")}
    unknown = sorted(wanted.difference(known, (IS_FALLBACK,)))
    if unknown or len(text) > FIELDS_MAX:
        wrong = f"; {unknown[0][:100]!r} is not one of them" if unknown else ""
        raise invalid(
            "fields",
            f"fields must be a comma-separated list of: {', '.join(sorted({*known, IS_FALLBACK}))}{wrong}.",
        )
    return wanted - {IS_FALLBACK}
