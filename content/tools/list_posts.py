"""Finding posts."""

from __future__ import annotations

from typing import Any, Final, Literal

from django.conf import settings
from django.db.models import QuerySet
from pydantic import ConfigDict, Field

from content import presenters, search
from content.models import Layer, Post
from content.post_fields import LISTED_FIELDS
from content.posts import queries
from content.posts.post_repository import format_time
from content.posts.queries import proposed_titles
from content.tools.arguments import hint
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom.core.tools import Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page_after, page_of_ranked
from proofroom.definitions import post_types

Row = dict[str, Any]
_MORE: Final = (*(field.name for field in LISTED_FIELDS), "version", "orderIndex")
_MAYBE: Final = ("parentId", "featuredMediaId")
_MOMENTS: Final = ("createdAt", "publishedAt")


class ListPosts(Paged):
    q: str | None = Field(None, max_length=200)
    type: str | None = Field(None, max_length=80)
    locale: str | None = Field(None, max_length=12)
    status: Literal["draft", "published", "archived"] | None = None
    taxonomy_term: str | None = Field(None, max_length=200)
    has_review: bool | None = None
    has_ai_review: bool | None = None


def _describe_listed(schema: dict[str, Any]) -> None:
    schema["properties"] |= {field.name: {"type": "string"} for field in LISTED_FIELDS}


class ListedPost(Result):
    """A post in a list, with the declared fields that lists answer."""

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


class PostPage(ToolPage):
    items: list[ListedPost]


@tool(title="List posts", kind="read", permission="posts.view", group="posts", result=PostPage)
def list_posts(actor: Actor, arguments: ListPosts) -> JsonObject:
    """Find posts, also by what waits in a layer; the newest change first, with q the best match."""
    posts = _wanted(arguments)

    def listed(rows: list[Row]) -> list[JsonObject]:
        layers = queries.layer_rows([row["id"] for row in rows])
        proposed = proposed_titles([row["id"] for row in rows if row["is_placeholder"]])
        return [
            _listed(row, layers.get(row["id"], {}), proposed.get(row["id"]), arguments.is_full)
            for row in rows
        ]

    rows = posts.values(*queries.LIST_COLUMNS, "is_placeholder")
    if arguments.q:
        return page_of_ranked(arguments, "list_posts", search.order_by_rank(rows), listed)
    return page_after(arguments, "list_posts", rows, ("-updated_at", "id"), listed)


def _wanted(arguments: ListPosts) -> QuerySet[Post]:
    posts = queries.visible_posts()
    for name in ("type", "locale", "status"):
        value = getattr(arguments, name)
        if value is not None:
            posts = posts.filter(**{name: value})
            if name != "status":
                # An empty list for a name that never existed would read as "there are none".
                known = list(settings.CMS_ENV.locales) if name == "locale" else post_types.names()
                if value not in known and not posts.exists():
                    what = "locale" if name == "locale" else "post type"
                    raise invalid(
                        name,
                        f"There is no {what} {value!r}.{hint(value, known)} Known: {', '.join(known)}.",
                    )
    if arguments.q:
        posts = search.search_posts(posts, arguments.q, arguments.locale)
    if arguments.taxonomy_term:
        posts = queries.filter_by_term(posts, arguments.taxonomy_term)
    for layer, wanted in (
        (Layer.REVIEW, arguments.has_review),
        (Layer.AI_REVIEW, arguments.has_ai_review),
    ):
        if wanted is not None:
            waiting = queries.has_changes_in(layer)
            posts = posts.filter(waiting) if wanted else posts.exclude(waiting)
    return posts


def _listed(row: Row, layers: dict[str, Row], proposed: str | None, full: bool) -> JsonObject:
    wire = presenters.listed_post(row, None, None)
    names = ("type", "locale", "slug", "title", "status", "url")
    changed = str(format_time(row["updated_at"]))
    answer: JsonObject = {
        "id": str(row["id"]),
        **{name: wire[name] for name in names},
        # Fractions of a second tell a model nothing.
        "updatedAt": changed if full else f"{changed[:19]}Z",
        "layers": sorted(layers),
    }
    if proposed is not None:
        answer["proposedTitle"] = proposed
    if not full:
        return answer
    # What else a list shows over REST.
    answer |= {name: wire[name] for name in _MORE if wire[name] is not None}
    answer |= {name: str(wire[name]) for name in _MAYBE if wire[name] is not None}
    answer |= {name: format_time(wire[name]) for name in _MOMENTS if wire[name] is not None}
    staged: JsonObject = {}
    for layer in sorted(layers):
        draft = layers[layer]
        by = draft["updated_by__username"]
        staged[layer] = {
            "version": draft["version"],
            "updatedAt": format_time(draft["updated_at"]),
            **({} if by is None else {"by": by}),
        }
    return answer | {"staged": staged} if staged else answer
