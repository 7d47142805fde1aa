"""Tools that read one post, in every layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from content import presenters
from content.document.document import ModuleDocument, PostDocument
from content.document.post_fields import AUTHORS
from content.layers import Layers, LayerView, open_layers
from content.layers.rejected_changes import EarlierRejections, earlier_rejections
from content.models import Layer, ModuleInstance, Post
from content.presenters.canonical_json import export_post
from content.store.layer_state import mark_of
from content.store.layered_post import LayeredPost, read_layered_post
from content.store.scopes import can_view
from content.tools.arguments import (
    Format,
    OnPost,
    PostId,
    require_post,
    require_post_id,
    unknown_post,
)
from content.tools.post_parts import PartNames, Parts, PostIds, outline_part, seo_part
from content.tools.rich_text import present_props, present_value
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.tools import Arguments, Result, tool
from proofroom.definitions import allowed_modules, post_types

MAX_REJECTED_SHOWN: Final = 20
"""Maximum number of rejected paths without a new proposal that are shown."""


class PostContext(Arguments):
    post_id: PostIds
    parts: PartNames = []
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


class OutlinedModule(Result):
    post_module_id: str
    type: str
    words: int
    headings: list[str] | None = None


class RejectedPath(Result):
    """The last rejection at a path where nothing is staged."""

    path: str
    at: str
    by: str
    note: str


class PostContextResult(Result):
    """A whole post, or its parts. For a list of posts only `posts`, with `error` instead of a post not found."""

    post: dict[str, Any] | None = None
    modules: list[ContextModule] | None = None
    taxonomy_term_ids: list[str] | None = None
    translations: list[NamedTranslation] | None = None
    seo: dict[str, Any] | None = None
    outline: list[OutlinedModule] | None = None
    allowed_modules: list[str] | None = None
    review: StagedChanges | None = None
    ai_review: StagedChanges | None = None
    rejected: list[RejectedPath] | None = None
    posts: list[dict[str, Any]] | None = None


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
    """A post to work on, or several: fields, modules of all layers, staged changes. Rich text is {markdown}, in full
    editor JSON. parts reads less."""
    parts = Parts.of(arguments.parts)
    full = arguments.format == "full"
    if not isinstance(arguments.post_id, list):
        return _context(_read(arguments.post_id, actor), parts, full)
    posts: list[Json] = []
    for reference in dict.fromkeys(arguments.post_id):
        try:
            posts.append(_context(_read(reference, actor), parts, full))
        except (NotFound, RuleViolation) as error:
            # The other posts are still useful.
            posts.append({"postId": str(reference), "error": error.message})
    return {"posts": posts}


def _read(reference: PostId, actor: Actor) -> LayeredPost:
    """Return the post. Raises `NotFound` if the actor may not view it."""
    post_id = require_post_id(reference, actor)
    read = read_layered_post(post_id, actor)
    if read is None or not can_view(actor, read.post):
        raise unknown_post(post_id)
    return read


def _context(read: LayeredPost, parts: Parts, full: bool) -> JsonObject:
    post, layers = read.post, read.layers
    # A proposed post has placeholders in its live fields, so all that it has is what is proposed.
    shown = layers.ai_review.document if post.is_placeholder else layers.live
    earlier = earlier_rejections([post.pk]) if read.has_rejections else EarlierRejections()
    # Modules of any layer in the order of AI Review, followed by modules removed there.
    documents = (layers.ai_review.document, layers.review.document, layers.live)
    found = {module.id: module for document in documents for module in reversed(document.modules)}
    parts.require_modules(found, post.pk)
    answer: JsonObject = {"post": _fields(read, shown, is_whole=parts.is_whole)}
    order = list(dict.fromkeys(id_ for document in documents for id_ in document.order))
    shared = _shared_props(read, found.values())
    modules: list[Json] = [
        _module(found[id_], index, layers, shared, full)
        for index, id_ in enumerate(order)
        if parts.has_module(id_)
    ]
    if parts.is_whole or "modules" in parts.names or parts.modules:
        answer["modules"] = modules
    if parts.is_whole:
        answer["taxonomyTermIds"] = list(shown.taxonomy_term_ids)
        answer["translations"] = [
            {"id": id_, "locale": locale} for id_, locale in read.translations
        ]
    if "seo" in parts.names:
        answer["seo"] = seo_part(shown)
    if "outline" in parts.names:
        answer["outline"] = outline_part(layers, shared)
    if "allowedModules" in parts.names:
        names = [row.name for row in allowed_modules(post.type)] if post.type in post_types else []
        answer["allowedModules"] = [*names]
    for name, view in (("review", layers.review), ("aiReview", layers.ai_review)):
        staged = _staged(post, view, earlier, full, parts)
        if parts.is_whole or staged["changes"]:
            answer[name] = staged
    if rejected := _rejected(layers, earlier, parts):
        answer["rejected"] = rejected
    return answer


def _fields(read: LayeredPost, shown: PostDocument, *, is_whole: bool) -> JsonObject:
    post = read.post
    wire: JsonObject = {
        "id": str(post.pk),
        "type": post.type,
        "locale": post.locale,
        "status": post.status,
        "url": post.path,
        "version": post.version,
    }
    if post.is_placeholder:
        # It gets its address at the first approval.
        del wire["url"]
        wire["proposed"] = True
    # Clients need names: they can neither read accounts nor change the authors.
    fields = (
        {**shown.fields, AUTHORS: [*read.author_names] or None}
        if is_whole
        else {"title": shown.fields.get("title")}
    )
    return wire | {name: value for name, value in fields.items() if value not in (None, "", {})}


def _shared_props(read: LayeredPost, modules: Iterable[ModuleDocument]) -> Mapping[str, JsonObject]:
    """Return the props of the global modules by instance id. One query if some are only staged."""
    placed = {module.instance_id for module in modules if module.scope == "global"}
    shared = dict(read.shared)
    # The statement has only the props of live global modules.
    ids = placed - shared.keys()
    if ids:
        rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
        shared |= {str(pk): props for pk, props in rows}
    return shared


def _rejected(layers: Layers, earlier: EarlierRejections, parts: Parts) -> list[Json]:
    """Return the last rejection of each path where nothing is staged, newest first. The others stand at the staged
    changes, and `list_my_proposals` has the rejected values."""
    staged = {*layers.review.changes.paths, *layers.ai_review.changes.paths}
    latest: dict[str, Json] = {}
    for one in earlier.latest():
        if one.path not in staged and parts.has_path(one.path):
            latest.setdefault(
                one.path,
                {"path": one.path, "at": format_time(one.at), "by": one.by, "note": one.note},
            )
    return list(latest.values())[:MAX_REJECTED_SHOWN]


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


def _staged(
    post: Post, view: LayerView, earlier: EarlierRejections, full: bool, parts: Parts
) -> JsonObject:
    items: list[JsonObject] = []
    for change in view.changes:
        if not parts.has_path(change.path):
            continue
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
