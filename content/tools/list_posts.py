"""The tool that finds posts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, cast

from django.db.models import QuerySet
from pydantic import ConfigDict, Field

from content.document.post_fields import LISTED_FIELDS
from content.models import Layer, Post
from content.store import post_queries, search
from content.store.post_queries import proposed_titles
from content.store.scopes import visible_to
from content.tools.arguments import require_known_filters
from proofroom.core.actor import Actor
from proofroom.core.content_scope import reading_scopes
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.database.row_counts import bounded_count, complete_count, count_rows
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.tools import Result, tool
from proofroom.core.tools.pagination import (
    Paged,
    ToolPage,
    page_after,
    page_of_found,
    page_of_ranked,
)
from proofroom.core.validation.limits import LOCALE_MAX

Row = dict[str, Any]
_ORDER: Final = ("-updated_at", "id")
_CONCISE: Final = ("id", "type", "locale", "slug", "title", "status", "path", "updated_at")
_MORE: Final = (*(field.name for field in LISTED_FIELDS), "version", "orderIndex")
_SEO: Final = {"metaTitle": "meta_title", "metaDescription": "meta_description"}
"""Fields that rows have only if `fields` names them."""
_MAYBE: Final = ("parentId", "featuredMediaId")
_MOMENTS: Final = ("createdAt", "publishedAt")


class ListPosts(Paged):
    q: str | None = Field(None, max_length=200)
    type: str | None = Field(None, max_length=80)
    locale: str | None = Field(None, max_length=LOCALE_MAX)
    status: Literal["draft", "published", "archived"] | None = None
    taxonomy_term: str | None = Field(None, max_length=200)
    has_review: bool | None = None
    has_ai_review: bool | None = None


def _describe_listed(schema: dict[str, Any]) -> None:
    names = [*(field.name for field in LISTED_FIELDS), *_SEO]
    schema["properties"] |= {name: {"type": "string"} for name in names}


class ListedPost(Result):
    """A post in a list, with the declared list fields."""

    model_config = ConfigDict(json_schema_extra=_describe_listed)

    id: str
    type: str
    locale: str
    slug: str
    title: str
    status: str
    url: str
    updated_at: str
    layers: list[str]
    proposed_title: str | None = None
    version: int | None = None
    parent_id: str | None = None
    order_index: int | None = None
    featured_media_id: str | None = None
    created_at: str | None = None
    published_at: str | None = None
    staged: dict[str, Any] | None = None


class NearPost(Result):
    id: str
    title: str
    url: str


class PostPage(ToolPage):
    """`near`: posts with similar words, if `q` found none."""

    items: list[ListedPost]
    total_is_estimate: bool | None = None
    near: list[NearPost] | None = None


@tool(
    title="List posts",
    kind="read",
    permission="posts.view",
    group="posts",
    result=PostPage,
)
def list_posts(actor: Actor, arguments: ListPosts) -> JsonObject:
    """Find posts, also by staged layer; latest change first, or with q the best match first."""
    require_known_filters(arguments.type, arguments.locale)

    def listed(rows: list[Row]) -> list[JsonObject]:
        ids = [row["id"] for row in rows]
        drafts = post_queries.layer_rows(ids) if arguments.is_full else {}
        proposed = proposed_titles([row["id"] for row in rows if row["is_placeholder"]])
        return [
            _listed(row, drafts.get(row["id"], {}), proposed.get(row["id"]), arguments.is_full)
            for row in rows
        ]

    columns = _columns(arguments)
    is_special = bool(reading_scopes(actor)) or bool(arguments.fields)
    if arguments.q or arguments.taxonomy_term or arguments.cursor is not None or is_special:
        posts = _filtered(_filters_of(arguments), arguments.has_review, arguments.has_ai_review)
        posts = visible_to(posts, actor)
        if arguments.taxonomy_term:
            posts = post_queries.filter_by_term(posts, arguments.taxonomy_term)
        if arguments.q:
            ranked = search.find_posts(
                posts,
                arguments.q,
                arguments.locale,
                shown=lambda found: _with_layers(found, columns),
            )
            answer = page_of_ranked(arguments, "list_posts", ranked, listed)
            return answer if answer["total"] else {**answer, **_near(posts, arguments.q)}
        rows_of = _with_layers(posts, columns)
        return page_after(arguments, "list_posts", rows_of, _ORDER, listed, count_rows(posts))
    filters = _filters_of(arguments)
    # The common case is one precompiled statement.
    waiting = arguments.has_review, arguments.has_ai_review
    statement = _first_page(tuple(filters), waiting, arguments.is_full, arguments.limit + 1)
    rows = statement.rows(*filters.values())
    total = complete_count(rows[0]["total"] if rows else 0, lambda: _filtered(filters, *waiting))
    return page_of_found(arguments, "list_posts", rows, total, _ORDER, listed)


def _near(posts: QuerySet[Post], words: str) -> JsonObject:
    """Return the posts whose title or slug has similar words. One query."""
    found: list[Json] = [
        {"id": str(pk), "title": title, "url": path}
        for pk, title, path in search.find_near_posts(posts, words)
    ]
    return {"near": found} if found else {}


def _filters_of(arguments: ListPosts) -> dict[str, str]:
    given = {name: getattr(arguments, name) for name in ("type", "locale", "status")}
    return {name: value for name, value in given.items() if value is not None}


def _filtered(
    filters: Mapping[str, str],
    has_review: bool | None = None,
    has_ai_review: bool | None = None,
) -> QuerySet[Post]:
    posts = post_queries.listed_posts().filter(**filters)
    for layer, wanted in ((Layer.REVIEW, has_review), (Layer.AI_REVIEW, has_ai_review)):
        if wanted is not None:
            waiting = post_queries.has_changes_in(layer)
            posts = posts.filter(waiting) if wanted else posts.exclude(waiting)
    return posts


def _columns(arguments: ListPosts) -> tuple[str, ...]:
    if not arguments.is_full:
        return _CONCISE
    return (*post_queries.LIST_COLUMNS, *(_SEO.values() if arguments.fields else ()))


def _with_layers(posts: QuerySet[Post], columns: tuple[str, ...]) -> QuerySet[Post, Row]:
    """Add the columns and the layers with staged changes."""
    rows = posts.values(
        *columns,
        "is_placeholder",
        in_review=post_queries.has_changes_in(Layer.REVIEW),
        in_ai_review=post_queries.has_changes_in(Layer.AI_REVIEW),
    )
    return cast("QuerySet[Post, Row]", rows)


# One entry per combination of filters and page size, of which clients use few.
@lru_cache(maxsize=256)
def _first_page(
    names: tuple[str, ...],
    waiting: tuple[bool | None, bool | None],
    full: bool,
    end: int,
) -> CompiledQuery:
    """Return the statement that reads the first rows, with their `bounded_count` as `total`.

    It takes the values of the named filters as parameters.
    """

    def build(*values: str) -> QuerySet[Post, Row]:
        posts = _filtered(dict(zip(names, values, strict=True)), *waiting)
        columns = post_queries.LIST_COLUMNS if full else _CONCISE
        rows = _with_layers(posts.order_by(*_ORDER), columns).annotate(total=bounded_count(posts))
        return cast("QuerySet[Post, Row]", rows[:end])

    return CompiledQuery(build)


def _listed(row: Row, drafts: dict[str, Row], proposed: str | None, full: bool) -> JsonObject:
    changed = format_time(row["updated_at"])
    waiting: list[Json] = ["ai-review"] if row["in_ai_review"] else []
    if row["in_review"]:
        waiting.append("review")
    answer: JsonObject = {
        "id": str(row["id"]),
        "type": row["type"],
        "locale": row["locale"],
        "slug": row["slug"],
        "title": row["title"],
        "status": row["status"],
        "url": row["path"],
        # Fractions of a second are useless to a model and cost tokens.
        "updatedAt": changed if full else f"{changed[:19]}Z",
        "layers": waiting,
    }
    if proposed is not None:
        answer["proposedTitle"] = proposed
    if not full:
        return answer
    # The other fields of REST lists.
    wire = {name: row[column] for name, column in post_queries.LISTED_COLUMNS.items()}
    answer |= {name: wire[name] for name in _MORE if wire[name] is not None}
    answer |= {name: str(wire[name]) for name in _MAYBE if wire[name] is not None}
    answer |= {name: format_time(wire[name]) for name in _MOMENTS if wire[name] is not None}
    answer |= {name: row[column] for name, column in _SEO.items() if column in row}
    staged: JsonObject = {}
    for layer in sorted(drafts):
        draft = drafts[layer]
        by = draft["updated_by__username"]
        staged[layer] = {
            "version": draft["version"],
            "updatedAt": format_time(draft["updated_at"]),
            **({} if by is None else {"by": by}),
        }
    return answer | {"staged": staged} if staged else answer
