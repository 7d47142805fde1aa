"""`/api/public/resolve`: what is at an address of the site, for frontends with their own pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, NotRequired
from uuid import UUID

import orjson
from django.conf import settings
from drf_spectacular.utils import extend_schema
from pydantic import BeforeValidator, Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from content.api.delivery.fallbacks import find_fallbacks_at
from content.api.delivery.list_pages import (
    RequestedList,
    ResolvedListAnswer,
    find_lists,
    requested_list,
)
from content.api.delivery.list_queries import INCLUDE
from content.api.delivery.lists import list_page_posts
from content.api.delivery.posts import (
    FALLBACK,
    FIELDS,
    IS_FALLBACK,
    LISTED,
    RICH_TEXT,
    VARIATION,
    WHOLE,
    DeliveredPostAnswer,
    IncludedAnswer,
    SparseListedLivePost,
    add_included,
    fields_of,
    include_of,
    text_format_of,
    variation_of,
    with_fallback,
)
from content.api.delivery.rendered_posts import (
    RenderedAnswer,
    render_post,
    render_post_at,
    render_posts,
    render_posts_at,
)
from content.api.delivery.viewset import DeliveredViewSet
from content.presenters.delivered_texts import TextFormat
from content.presenters.related_content import WEIGHTS, parse_include
from proofroom.core.api.answer import described, one_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import LAST_PAGE, page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import integer_schema, parameter_names, query_parameter
from proofroom.core.caching.cache_tags import REDIRECTS, add_cache_tags
from proofroom.core.caching.content_tags import ANY_TYPE, depend_on, tag_of_list
from proofroom.core.database.replica import from_replica
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import canonical_form
from proofroom.core.validation.limits import LOCALE_MAX, URL_MAX
from proofroom.definitions.listings import LIST_PAGE_SIZE
from seo.models import RedirectType
from seo.queries import RedirectTarget, target_of, targets_of

PATHS_MAX: Final = 100
FIELD_NAMES: Final = sorted({*WHOLE, IS_FALLBACK})
MAX_INCLUDES: Final = 50
PATH: Final = query_parameter(
    "path",
    "A path of the site, like /de/blog/x; of a list also with its page, like /blog?page=2.",
    {"type": "string", "pattern": "^/", "maxLength": URL_MAX},
    required=True,
)
_PARAMETERS: Final = [
    PATH,
    VARIATION,
    FIELDS,
    FALLBACK,
    INCLUDE,
    RICH_TEXT,
    query_parameter("page", "The page of a list, 1-based.", integer_schema(1, LAST_PAGE, 1)),
]


class TargetAnswer(TypedDict):
    """The target of the redirect."""

    toPath: str
    status: Annotated[int, one_of(RedirectType.values)]


class ResolvedPostAnswer(TypedDict):
    """A published post is at the path."""

    type: Literal["post"]
    post: DeliveredPostAnswer
    included: NotRequired[IncludedAnswer]


class ResolvedRedirectAnswer(TypedDict):
    """The path redirects."""

    type: Literal["redirect"]
    redirect: TargetAnswer


class NothingResolvedAnswer(TypedDict):
    """Nothing is at the path."""

    type: Literal["not_found"]


class ResolvedAnswer(TypedDict):
    """The content at a path: `post`, `redirect` or `list`, by `type`."""

    type: Annotated[str, one_of(["post", "redirect", "list"])]
    post: NotRequired[DeliveredPostAnswer]
    included: NotRequired[Annotated[IncludedAnswer, Field(description="With `include`.")]]
    redirect: NotRequired[TargetAnswer]
    postType: NotRequired[Annotated[str, Field(description="Of a list: the type of its posts.")]]
    locale: NotRequired[str]
    url: NotRequired[Annotated[str, Field(description="The path of the list, without its page.")]]
    title: NotRequired[str]
    term: NotRequired[dict[str, Any] | None]
    page: NotRequired[int]
    lastPage: NotRequired[int]
    perPage: NotRequired[int]
    total: NotRequired[int]
    translations: NotRequired[list[dict[str, Any]]]
    posts: NotRequired[
        Annotated[
            list[SparseListedLivePost],
            Field(description="The posts on the page of the list, newest first."),
        ]
    ]


class ResolvedPathsAnswer(TypedDict):
    """The content at each of the paths, by the path as it was sent."""

    data: dict[
        str,
        ResolvedPostAnswer | ResolvedRedirectAnswer | ResolvedListAnswer | NothingResolvedAnswer,
    ]
    included: NotRequired[IncludedAnswer]


def _require_leading_slash(value: object) -> object:
    if isinstance(value, str) and not value.startswith("/"):
        raise ValueError("must begin with /")
    return value


# The pattern again, since the validator of `Words` hides it from the description.
Path = Annotated[
    Words,
    BeforeValidator(_require_leading_slash),
    Field(pattern="^/", max_length=URL_MAX, json_schema_extra={"pattern": "^/"}),
]
FieldName = Annotated[Words, Field(max_length=100, json_schema_extra={"enum": FIELD_NAMES})]


class PathsToResolve(Body):
    """Paths of the site, and the fields to answer of posts."""

    paths: list[Path] = Field(min_length=1, max_length=PATHS_MAX)
    fields: Annotated[list[FieldName], Field(min_length=1, max_length=len(FIELD_NAMES))] | None = (
        Field(None, description="Of posts only these; all without it.")
    )
    include: list[Annotated[Words, Field(max_length=100)]] = Field(
        [],
        max_length=MAX_INCLUDES,
        description=f"Related things in `included`, each once: {', '.join(WEIGHTS)}.",
    )
    richtext: TextFormat = "json"
    fallback: Annotated[Words, Field(max_length=LOCALE_MAX)] | None = Field(
        None,
        description="The language to answer where a post is not published in the requested one; "
        "`isFallback` says so.",
    )


class ResolveViewSet(DeliveredViewSet):
    """The resolution of addresses."""

    permissions: ClassVar[dict[str, Declared]] = {"resolve": PUBLIC, "resolve_many": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "resolve": parameter_names(_PARAMETERS),
        "resolve_many": frozenset(),
    }

    @extend_schema(parameters=_PARAMETERS, responses=described(ResolvedAnswer))
    def resolve(self, request: Request) -> Response:
        """Return the published post at a path, the list, or the target of a redirect."""
        given = request.query_params.get("path", "")
        if not given.startswith("/") or len(given) > URL_MAX or "\x00" in given:
            raise invalid(
                "path", f"path must begin with / and have at most {URL_MAX:,} characters."
            )
        fields, variation = fields_of(request, WHOLE), variation_of(request)
        text_format, tree = text_format_of(request), include_of(request)
        fallback = choice_in(request, "fallback", settings.CMS_ENV.locales)
        bare, _, query = given.partition("?")
        if "page" in request.query_params:
            query = f"page={page_of(request).number}"
        path = canonical_form(bare)
        found = render_post_at(path, variation, fields, text_format)
        is_fallback = found is None
        if found is None and fallback is not None:
            post_id = find_fallbacks_at([path], fallback).get(path)
            if post_id is not None:
                found = render_post(post_id, fields, text_format=text_format)
        if found is not None:
            depend_on(*found.depends_on)
            if is_fallback:
                # A post that is published at the path replaces it.
                depend_on(tag_of_list(ANY_TYPE))
            body = found.body if fallback is None else with_fallback(found.body, is_fallback)
            if tree is None:
                return Response({"type": "post", "post": orjson.Fragment(body)})
            posts, included = add_included(
                {found.post_id: body}, tree, text_format, found.variations
            )
            return Response({"type": "post", "post": posts[found.post_id], "included": included})
        # A post that is published at the path replaces a list or a redirect.
        depend_on(tag_of_list(ANY_TYPE))
        add_cache_tags(REDIRECTS)
        wanted = requested_list(path, query)
        lists = find_lists({path: wanted}) if wanted is not None else {}
        if wanted is not None and path in lists:
            include = request.query_params.get("include")
            posts_on_page, related = list_page_posts(
                wanted.listing,
                wanted.page,
                fields=fields,
                listed=LISTED,
                include=parse_include(include, posts=LIST_PAGE_SIZE) if include else None,
                text_format=text_format,
            )
            if fallback is not None:
                # The list is of one language.
                posts_on_page = [{**post, IS_FALLBACK: False} for post in posts_on_page]
            answer = {**lists[path], "posts": posts_on_page}
            return Response(answer if related is None else {**answer, "included": related})
        target = target_of(bare)
        if target is None:
            raise NotFound("Nothing is published at this path.")
        return Response(_redirect(target))

    @extend_schema(request=PathsToResolve, responses=described(ResolvedPathsAnswer))
    def resolve_many(self, request: Request) -> Response:
        """Return the content at up to 100 paths. `not_found` says that nothing is at a path.

        As many queries for all paths as for one.
        """
        body = read_body(request, PathsToResolve)
        unknown = sorted(set(body.fields or ()).difference(FIELD_NAMES))
        if unknown:
            raise invalid(
                "fields",
                f"fields must be a list of: {', '.join(FIELD_NAMES)}; "
                f"{unknown[0]!r} is not one of them.",
            )
        locales = settings.CMS_ENV.locales
        if body.fallback is not None and body.fallback not in locales:
            raise invalid("fallback", f"fallback must be one of: {', '.join(locales)}.")
        with from_replica():
            return Response(resolve_paths(body))


def resolve_paths(body: PathsToResolve) -> dict[str, Any]:
    """Return what is at the paths, by path, and what the posts include.

    Runs at most seven queries, and the queries of `load_included`. A fallback adds one query to find its posts, and
    the queries that render them.
    """
    tree = parse_include(",".join(body.include), posts=len(body.paths)) if body.include else None
    fields = None if body.fields is None else set(body.fields) - {IS_FALLBACK}
    asked = {given: given.partition("?") for given in body.paths}
    canonical = {given: canonical_form(bare) for given, (bare, _, _) in asked.items()}
    paths = {*canonical.values()}
    rendered = render_posts_at(paths, fields, body.richtext)
    in_fallback = _render_fallbacks(paths.difference(rendered), fields, body)
    found_posts = {**rendered, **in_fallback}
    included: JsonObject | None = None
    by_id: Mapping[UUID, JsonObject] = {}
    if tree is not None:
        bodies = {post.post_id: post.body for post in found_posts.values()}
        by_id, included = add_included(bodies, tree, body.richtext)
    posts: dict[str, Any] = {}
    for path, post in found_posts.items():
        if tree is not None:
            told = {} if body.fallback is None else {IS_FALLBACK: path in in_fallback}
            posts[path] = {**by_id[post.post_id], **told}
        elif body.fallback is None:
            posts[path] = orjson.Fragment(post.body)
        else:
            posts[path] = orjson.Fragment(with_fallback(post.body, path in in_fallback))
    lists: dict[str, RequestedList] = {}
    for given, (_bare, _mark, query) in asked.items():
        wanted = requested_list(canonical[given], query)
        if canonical[given] not in posts and wanted is not None:
            lists[given] = wanted
    found_lists = find_lists(lists) if lists else {}
    others = {
        path for given, path in canonical.items() if path not in posts and given not in found_lists
    }
    targets = targets_of(others)
    found: dict[str, Mapping[str, Any]] = {}
    for given, path in canonical.items():
        if path in posts:
            found[given] = {"type": "post", "post": posts[path]}
        elif given in found_lists:
            found[given] = found_lists[given]
        elif path in targets:
            found[given] = _redirect(targets[path])
        else:
            found[given] = {"type": "not_found"}
    return {"data": found} if included is None else {"data": found, "included": included}


def _render_fallbacks(
    paths: Collection[str], fields: Collection[str] | None, body: PathsToResolve
) -> dict[str, RenderedAnswer]:
    """Return the posts in the fallback language for paths where none is published, by path."""
    if body.fallback is None or not paths:
        return {}
    ids = find_fallbacks_at(paths, body.fallback)
    rendered = render_posts(sorted({*ids.values()}), fields, body.richtext)
    return {path: rendered[id_] for path, id_ in ids.items() if id_ in rendered}


def _redirect(target: RedirectTarget) -> ResolvedRedirectAnswer:
    return {
        "type": "redirect",
        "redirect": {"toPath": target.to_path, "status": target.status},
    }
