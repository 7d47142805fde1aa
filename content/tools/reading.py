"""Reading posts, in every layer."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field

from content import presenters, queries
from content.definitions import allowed_modules, post_types
from content.document import ModuleDocument, PostDocument
from content.layers import Layers, LayerView, open_layers
from content.layers.marks import mark_of
from content.layers.state import post_not_found
from content.models import Layer, ModuleInstance, Post
from content.richtext.markdown import to_markdown
from content.richtext.schema import is_document
from content.tools.arguments import Format, OnPost, Paged
from content.tools.paging import page
from core.actor import Actor
from core.json import Json, JsonObject
from core.tools import tool


class ListPosts(Paged):
    q: str | None = Field(None, max_length=200, description="Words in title or content.")
    type: str | None = Field(None, max_length=80)
    locale: str | None = Field(None, max_length=12)
    status: Literal["draft", "published", "archived"] | None = None
    taxonomy_term: str | None = Field(None, max_length=200)
    has_review: bool | None = None
    has_ai_review: bool | None = None
    format: Format = "concise"


class PostContext(OnPost):
    format: Format = "concise"


class PostManifest(OnPost):
    layer: Literal["source", "review", "ai-review"] = "ai-review"


def require_post(post_id: UUID | str) -> Post:
    post = queries.visible_posts().filter(pk=post_id).first()
    if post is None:
        not_found = post_not_found(post_id)
        not_found.message += " Call list_posts to find the id."
        raise not_found
    return post


@tool(title="List posts", kind="read", permission="posts.view", arguments=ListPosts, group="posts")
def list_posts(actor: Actor, arguments: ListPosts) -> JsonObject:
    """Find posts by words, type, locale, status, term, or what waits in a layer; newest change first."""
    posts = queries.ordered(_wanted(arguments), "-updatedAt")
    total = posts.count()
    answer = page(
        posts.values(*queries.LIST_COLUMNS),
        lambda row: row,
        total=total,
        limit=arguments.limit,
        cursor=arguments.cursor,
    )
    rows: list[queries.Row] = answer["items"]  # type: ignore[assignment]  # rows of the query
    layers = queries.layer_rows([row["id"] for row in rows])
    answer["items"] = [_listed(row, layers.get(row["id"], {}), arguments.format) for row in rows]
    return answer


def _wanted(arguments: ListPosts) -> QuerySet[Post]:
    posts = queries.visible_posts()
    for name in ("type", "locale", "status"):
        value = getattr(arguments, name)
        if value is not None:
            posts = posts.filter(**{name: value})
    if arguments.q:
        posts = queries.matching(posts, arguments.q)
    if arguments.taxonomy_term:
        posts = queries.with_term(posts, arguments.taxonomy_term)
    for layer, wanted in (
        (Layer.REVIEW, arguments.has_review),
        (Layer.AI_REVIEW, arguments.has_ai_review),
    ):
        if wanted is not None:
            waiting = queries.waiting_in(layer)
            posts = posts.filter(waiting) if wanted else posts.exclude(waiting)
    return posts


def _listed(row: queries.Row, layers: dict[str, queries.Row], format: Format) -> JsonObject:
    wire: JsonObject = {
        "id": str(row["id"]),
        "type": row["type"],
        "locale": row["locale"],
        "slug": row["slug"],
        "title": row["title"],
        "status": row["status"],
        "url": row["path"],
        "updatedAt": row["updated_at"].isoformat(),
        "layers": sorted(layers),
    }
    if format == "full":
        wire["excerpt"] = row["excerpt"]
        wire["version"] = row["version"]
    return wire


@tool(
    title="Post with its layers",
    kind="read",
    permission="posts.view",
    arguments=PostContext,
    group="posts",
)
def get_post_context(actor: Actor, arguments: PostContext) -> JsonObject:
    """A post to work on: fields, modules with ids, what is staged and by whom, allowed modules.
    Rich text is Markdown in concise, editor JSON in full."""
    post = require_post(arguments.post_id)
    layers = open_layers(post)
    shared = _shared(layers)
    full = arguments.format == "full"
    answer: JsonObject = {
        "post": _post(post, layers.live),
        "modules": [_module(module, layers.live, shared, full) for module in layers.live.modules],
        "taxonomyTermIds": list(layers.live.taxonomy_term_ids),
        "translations": [
            {"id": str(row["id"]), "locale": row["locale"]} for row in queries.translations_of(post)
        ],
        "allowedModules": [row.name for row in allowed_modules(post.type)]
        if post.type in post_types
        else [],
        "review": _staged(layers.review, full),
        "aiReview": _staged(layers.ai_review, full),
    }
    return answer


def _post(post: Post, live: PostDocument) -> JsonObject:
    wire: JsonObject = {
        "id": str(post.pk),
        "type": post.type,
        "locale": post.locale,
        "status": post.status,
        "url": post.path,
        "version": post.version,
    }
    wire |= {name: value for name, value in live.fields.items() if value not in (None, "", {})}
    return wire


def _shared(layers: Layers) -> dict[str, JsonObject]:
    ids = {module.instance_id for module in layers.live.modules if module.scope == "global"}
    if not ids:
        return {}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    return {str(pk): props for pk, props in rows}


def _module(
    module: ModuleDocument, document: PostDocument, shared: dict[str, JsonObject], full: bool
) -> JsonObject:
    props = module.props if module.scope == "local" else shared.get(module.instance_id, {})
    wire: JsonObject = {
        "postModuleId": module.id,
        "type": module.type,
        "orderIndex": document.order.index(module.id),
        "props": readable(props, full),
    }
    if module.locked:
        wire["locked"] = True
    if module.scope != "local":
        wire |= {"scope": module.scope, "globalSlug": module.global_slug}
    if module.overrides:
        wire["overrides"] = readable(module.overrides, full)
    return wire


def readable(value: Json, full: bool) -> Json:
    """A value for a model to read: rich text as Markdown unless the full form is asked for."""
    if full:
        return value
    if is_document(value):
        return {"markdown": to_markdown(value)}
    if isinstance(value, dict):
        return {
            name: readable(item, full) for name, item in value.items() if item not in (None, "")
        }
    if isinstance(value, list | tuple):
        return [readable(item, full) for item in value]
    return value


def _staged(view: LayerView, full: bool) -> JsonObject:
    items: list[JsonObject] = []
    for change in view.changes:
        mark = mark_of(view.marks, change.path)
        item: JsonObject = {
            "path": change.path,
            "kind": change.kind,
            "after": readable(presenters.plain(change.after), full),
        }
        if mark is not None:
            item["by"] = mark.agent_id or mark.user
        if change.path in view.drifted or (mark is not None and mark.conflict):
            item["conflict"] = True
        items.append(item)
    return {"version": view.version, "changes": items}


@tool(
    title="Post document",
    kind="read",
    permission="posts.view",
    arguments=PostManifest,
    group="posts",
)
def get_post_manifest(actor: Actor, arguments: PostManifest) -> JsonObject:
    """The whole post document as one layer sees it."""
    post = require_post(arguments.post_id)
    layer = None if arguments.layer == "source" else Layer(arguments.layer)
    return {
        "postId": str(post.pk),
        "layer": arguments.layer,
        **open_layers(post).document(layer).to_json(),
    }


@tool(title="Canonical JSON", kind="read", permission="posts.view", arguments=OnPost, group="posts")
def export_post_canonical_json(actor: Actor, arguments: OnPost) -> JsonObject:
    """The live post as canonical JSON, without anything staged."""
    post = require_post(arguments.post_id)
    return presenters.canonical(post, open_layers(post).live, queries.translations_of(post))
