"""Content as the wire has it. The one place where names turn into camelCase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import orjson

from content.changes import ABSENT, Change, Value
from content.definitions import modules as module_registry
from content.document import ModuleDocument, PostDocument
from content.layers import Layers, LayerView
from content.layers.marks import mark_of
from content.models import Post, Provenance, Revision
from content.queries import Row
from content.review.labels import label_of, module_names
from content.store import fields_of, iso
from core.json import Json, JsonObject

Wire = dict[str, Any]


def listed_post(row: Row, modules: Iterable[Row] | None, layers: Mapping[str, Row] | None) -> Wire:
    """A post in a list. `layers` None leaves out what is staged."""
    wire: Wire = {
        "id": row["id"],
        "type": row["type"],
        "locale": row["locale"],
        "slug": row["slug"],
        "title": row["title"],
        "excerpt": row["excerpt"],
        "status": row["status"],
        "url": row["path"],
        "parentId": row["parent_id"],
        "orderIndex": row["order_index"],
        "featuredMediaId": row["featured_media_id"],
        "version": row["version"],
        "createdAt": row["created_at"],
        "updatedAt": row["updated_at"],
        "publishedAt": row["published_at"],
    }
    if modules is not None:
        wire["modules"] = [live_module(module) for module in modules]
    if layers is not None:
        wire["layers"] = layer_states(layers)
    return wire


def layer_states(layers: Mapping[str, Row]) -> Wire:
    return {
        "review": _layer_state(layers.get("review")),
        "aiReview": _layer_state(layers.get("ai-review")),
    }


def _layer_state(row: Row | None) -> Wire:
    if row is None:
        return {"exists": False, "updatedAt": None, "updatedBy": None, "version": 0}
    return {
        "exists": True,
        "updatedAt": row["updated_at"],
        "updatedBy": {"id": row["updated_by_id"], "username": row["updated_by__username"]},
        "version": row["version"],
    }


def live_module(row: Row) -> Wire:
    """A live module from a row of `queries.module_rows`; JSON columns go through as text."""
    overrides = row["overrides_text"]
    return {
        "postModuleId": row["id"],
        "moduleInstanceId": row["instance_id"],
        "type": row["instance__type"],
        "scope": row["instance__scope"],
        "orderIndex": row["order_index"],
        "locked": row["locked"],
        "props": orjson.Fragment(row["props_text"]),
        "overrides": None if overrides == "{}" else orjson.Fragment(overrides),
        "globalSlug": row["instance__global_slug"],
    }


@cache
def module_schema(type_name: str) -> orjson.Fragment:
    """`{type, propsSchema, defaultProps}` of a module; null where the type no longer exists."""
    definition = module_registry.get(type_name)
    if definition is None:
        return orjson.Fragment(b"null")
    return orjson.Fragment(
        orjson.dumps(
            {
                "type": type_name,
                "propsSchema": definition.props_schema(),
                "defaultProps": definition.default_props(),
            }
        )
    )


def layered_modules(
    layers: Layers, shared: Mapping[str, JsonObject], *, may_see_staged: bool
) -> list[Wire]:
    """Every module of a post with its values in each layer. `shared` are the props of global instances by id."""
    found = [_layered(layers, module, shared, may_see_staged) for module in layers.live.modules]
    if may_see_staged:
        known = set(layers.live.order)
        for view in (layers.review, layers.ai_review):
            for module in view.document.modules:
                if module.id not in known:
                    known.add(module.id)
                    found.append(_layered(layers, module, shared, may_see_staged))
    return found


def _layered(
    layers: Layers, module: ModuleDocument, shared: Mapping[str, JsonObject], staged: bool
) -> Wire:
    live = layers.live.module(module.id)
    order = layers.live.order if live else _order_of(layers, module.id)
    wire: Wire = {
        "postModuleId": module.id,
        "moduleInstanceId": module.instance_id,
        "type": module.type,
        "scope": module.scope,
        "orderIndex": order.index(module.id),
        "locked": module.locked,
        "props": _props(live, shared),
        "overrides": (live.overrides or None) if live else None,
        "globalSlug": module.global_slug,
        "schema": module_schema(module.type),
    }
    if staged:
        for name, view in (("review", layers.review), ("aiReview", layers.ai_review)):
            wire |= _staged_values(name, view, module.id, shared)
    return wire


def _order_of(layers: Layers, module_id: str) -> tuple[str, ...]:
    review = layers.review.document.order
    return review if module_id in review else layers.ai_review.document.order


def _props(module: ModuleDocument | None, shared: Mapping[str, JsonObject]) -> object:
    if module is None:
        return None
    return module.props if module.scope == "local" else shared.get(module.instance_id, {})


def _staged_values(
    name: str, view: LayerView, module_id: str, shared: Mapping[str, JsonObject]
) -> Wire:
    below, here = view.below.module(module_id), view.document.module(module_id)
    props = overrides = None
    if here is not None and (below is None or here.props != below.props):
        props = _props(here, shared)
    if here is not None and (below is None or here.overrides != below.overrides):
        overrides = here.overrides or None
    wire: Wire = {f"{name}Props": props, f"{name}Overrides": overrides}
    if below is not None and here is None:
        wire[f"{name}Removed"] = True
    return wire


def post_fields(post: Post) -> Wire:
    """The fields of a post that every reader may see."""
    wire: Wire = {"id": post.pk, "type": post.type, "locale": post.locale, "status": post.status}
    for name, value in fields_of(post).items():
        if not name.startswith("customFields."):
            wire[name] = value
    wire["customFields"] = post.custom_fields
    wire["url"] = post.path
    wire["version"] = post.version
    wire["createdAt"] = iso(post.created_at)
    wire["updatedAt"] = iso(post.updated_at)
    wire["publishedAt"] = iso(post.published_at)
    return wire


def translations(rows: Iterable[Row]) -> list[Wire]:
    return [{"id": row["id"], "locale": row["locale"]} for row in rows]


def changes(view: LayerView) -> list[Wire]:
    """What a layer changes, as its review shows it."""
    names = module_names(view.document, view.below)
    return [_change(item, view, names) for item in view.changes]


def _change(item: Change, view: LayerView, names: Mapping[str, str]) -> Wire:
    mark = mark_of(view.marks, item.path)
    flags = []
    if item.path in view.drifted:
        flags.append("drifted")
    if mark is not None and mark.edited_by:
        flags.append("edited")
    return {
        "path": item.path,
        "kind": item.kind,
        "label": label_of(item.path, view.document, names),
        "before": plain(item.before),
        "after": plain(item.after),
        "by": {"id": mark.user_id, "username": mark.user} if mark else None,
        "agentId": (mark.agent_id or None) if mark else None,
        "runId": (mark.run_id or None) if mark else None,
        "via": mark.via if mark else None,
        "editedBy": (mark.edited_by or None) if mark else None,
        "at": mark.at if mark else None,
        "conflict": item.path in view.drifted or bool(mark and mark.conflict),
        "flags": flags,
    }


def plain(value: Value) -> Json:
    """A value of a change as JSON."""
    if value is ABSENT:
        return None
    if isinstance(value, ModuleDocument):
        return value.to_json(0)
    return list(value) if isinstance(value, tuple) else value  # type: ignore[return-value]


def revision(row: Revision, *, with_document: bool = False) -> Wire:
    wire: Wire = {
        "id": row.pk,
        "version": row.version,
        "layer": "source",
        "reason": row.reason,
        "note": row.note,
        "by": {"id": row.by_id, "username": row.by_name},
        "agentId": row.agent_id or None,
        "runId": row.run_id or None,
        "createdAt": iso(row.created_at),
        "changedPaths": row.changed_paths,
    }
    if with_document:
        wire["document"] = row.document
    return wire


def provenance(row: Provenance) -> Wire:
    return {
        "path": row.path,
        "author": {"id": row.author_id, "username": row.author_name},
        "agentId": row.agent_id or None,
        "runId": row.run_id or None,
        "via": row.via,
        "editedBy": row.edited_by_name or None,
        "approvedBy": {"id": row.approved_by_id, "username": row.approved_by_name},
        "revisionId": row.revision_id,
        "writtenAt": iso(row.written_at),
        "publishedAt": iso(row.created_at),
    }


def canonical(post: Post, document: PostDocument, others: Iterable[Row]) -> Wire:
    """The canonical export: the document with the status and the translations beside it."""
    wire: Wire = dict(document.to_json())
    wire["post"] = {**wire["post"], "status": post.status}
    wire["translations"] = [
        {"id": str(row["id"]), "locale": row["locale"]} for row in others
    ]
    return wire


