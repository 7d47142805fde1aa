"""Tools that read one post, in every layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from content import presenters
from content.document.document import ModuleDocument
from content.layers import Layers, LayerView, open_layers
from content.layers.rejected_changes import EarlierRejections, earlier_rejections
from content.models import Layer, ModuleInstance, Post
from content.presenters.canonical_json import export_post
from content.store.layer_state import mark_of
from content.store.layered_post import read_layered_post
from content.store.scopes import can_view
from content.tools.arguments import Format, OnPost, require_post, unknown_post
from content.tools.rich_text import present_props, present_value
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.tools import Result, tool
from proofroom.definitions import allowed_modules, post_types


class PostContext(OnPost):
    format: Format = "concise"


class PostManifest(OnPost):
    layer: Literal["source", "review", "ai-review"] = "ai-review"


class NamedTranslation(Result):
    id: str
    locale: str


class ContextModule(Result):
    """`props` is null for a module that is not live."""

    post_module_id: str
    type: str
    props: Any
    order_index: int | None = None
    removed: bool | None = None
    locked: bool | None = None
    scope: str | None = None
    global_slug: str | None = None


class RejectedBefore(Result):
    at: str
    by: str
    note: str
    same: bool | None = None


class StagedChange(Result):
    path: str
    kind: str
    by: str | None = None
    conflict: bool | None = None
    rejected_before: list[RejectedBefore] | None = None


class StagedChanges(Result):
    version: int
    changes: list[StagedChange]


class PostContextResult(Result):
    post: dict[str, Any]
    modules: list[ContextModule]
    taxonomy_term_ids: list[str]
    translations: list[NamedTranslation]
    allowed_modules: list[str]
    review: StagedChanges
    ai_review: StagedChanges


class Document(Result):
    schema_version: int
    post: dict[str, Any]
    taxonomy_term_ids: list[str]
    modules: list[dict[str, Any]]


class Manifest(Document):
    post_id: str
    layer: Literal["source", "review", "ai-review"]


class CanonicalPost(Document):
    translations: list[NamedTranslation]


@tool(
    title="Post with its layers",
    kind="read",
    permission="posts.view",
    group="posts",
    result=PostContextResult,
)
def get_post_context(actor: Actor, arguments: PostContext) -> JsonObject:
    """A post to work on: fields, modules of all layers, staged changes with authors. Rich text is {markdown}, in
    full editor JSON; both can be written back."""
    read = read_layered_post(UUID(str(arguments.post_id)), actor)
    if read is None or not can_view(actor, read.post):
        raise unknown_post(arguments.post_id)
    post, layers = read.post, read.layers
    full = arguments.format == "full"
    staged = {*layers.review.changes.paths, *layers.ai_review.changes.paths}
    earlier = earlier_rejections([post.pk], staged)
    wire: JsonObject = {
        "id": str(post.pk),
        "type": post.type,
        "locale": post.locale,
        "status": post.status,
        "url": post.path,
        "version": post.version,
    }
    wire |= {
        name: value for name, value in layers.live.fields.items() if value not in (None, "", {})
    }
    # Modules of any layer in the order of AI Review, followed by modules removed there.
    documents = (layers.ai_review.document, layers.review.document, layers.live)
    found = {module.id: module for document in documents for module in reversed(document.modules)}
    order = list(dict.fromkeys(id_ for document in documents for id_ in document.order))
    placed = {module.instance_id for module in found.values() if module.scope == "global"}
    shared = dict(read.shared)
    # The statement has only the props of live global modules.
    ids = placed - shared.keys()  # modules that are only staged
    if ids:
        rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
        shared |= {str(pk): props for pk, props in rows}
    return {
        "post": wire,
        "modules": [
            _module(found[id_], index, layers, shared, full) for index, id_ in enumerate(order)
        ],
        "taxonomyTermIds": list(layers.live.taxonomy_term_ids),
        "translations": [{"id": id_, "locale": locale} for id_, locale in read.translations],
        "allowedModules": [row.name for row in allowed_modules(post.type)]
        if post.type in post_types
        else [],
        "review": _staged(post, layers.review, earlier, full),
        "aiReview": _staged(post, layers.ai_review, earlier, full),
    }


def _module(
    module: ModuleDocument,
    index: int,
    layers: Layers,
    shared: Mapping[str, JsonObject],
    full: bool,
) -> JsonObject:
    """Return a module with its live props, None if it is not live, and differing staged props.

    With `full` False, staged props are included only for modules that are not live; `changes` has the others.
    """
    live = layers.live.module(module.id)
    wire: JsonObject = {"postModuleId": module.id, "type": module.type}
    if layers.ai_review.document.module(module.id):
        wire["orderIndex"] = index
    else:
        wire["removed"] = True
    if module.locked:
        wire["locked"] = True
    if module.scope != "local":
        wire |= {"scope": module.scope, "globalSlug": module.global_slug}
    wire["props"] = _props(live, shared, full)
    if live is not None and live.overrides:
        wire["overrides"] = present_value(live.overrides, full)
    for name, view in (("reviewProps", layers.review), ("aiReviewProps", layers.ai_review)):
        below, here = view.below.module(module.id), view.document.module(module.id)
        if here is not None and (below is None or (full and here.props != below.props)):
            wire[name] = _props(here, shared, full)
    return wire


def _props(
    module: ModuleDocument | None, shared: Mapping[str, JsonObject], full: bool
) -> JsonObject | None:
    if module is None:
        return None
    props = module.props if module.scope == "local" else shared.get(module.instance_id, {})
    return present_props(props, full)


def _staged(post: Post, view: LayerView, earlier: EarlierRejections, full: bool) -> JsonObject:
    items: list[JsonObject] = []
    for change in view.changes:
        mark = mark_of(view.marks, change.path)
        item: JsonObject = {"path": change.path, "kind": change.kind}
        # Whole modules are in the list of modules.
        if not isinstance(change.after, ModuleDocument):
            item["after"] = present_value(presenters.value_as_json(change.after), full)
        if mark is not None:
            item["by"] = mark.agent_id or mark.user
            item["via"] = mark.via
            if mark.reason:
                item["reason"] = mark.reason
        if change.path in view.drifted or (mark is not None and mark.conflict):
            item["conflict"] = True
        # Earlier rejections of the path, with reasons.
        rejected: list[Json] = [
            {
                "at": format_time(one.at),
                "by": one.by,
                "note": one.note,
                **({"same": True} if one.is_same else {}),
            }
            for one in earlier.of(post.pk, change)
        ]
        if rejected:
            item["rejectedBefore"] = rejected
        items.append(item)
    return {"version": view.version, "changes": items}


@tool(title="Post document", kind="read", permission="posts.view", group="posts", result=Manifest)
def get_post_manifest(actor: Actor, arguments: PostManifest) -> JsonObject:
    """The whole post document in one layer, with rich text as editor JSON."""
    post = require_post(arguments.post_id, actor)
    layer = None if arguments.layer == "source" else Layer(arguments.layer)
    return {
        "postId": str(post.pk),
        "layer": arguments.layer,
        **open_layers(post).document(layer).to_json(),
    }


@tool(
    title="Canonical JSON",
    kind="read",
    permission="posts.view",
    group="posts",
    result=CanonicalPost,
)
def export_post_canonical_json(actor: Actor, arguments: OnPost) -> JsonObject:
    """The live post as canonical JSON with translations, without staged changes."""
    post = require_post(arguments.post_id, actor)
    return export_post(post=post, actor=actor)
