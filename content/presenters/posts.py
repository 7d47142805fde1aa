"""Posts and their modules in the format of the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Annotated, Any, NotRequired
from uuid import UUID

import orjson
from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from content.document.document import ModuleDocument, PostDocument
from content.layers import Layers
from content.models import Post
from content.store.post_queries import LISTED_COLUMNS, LISTED_NAMES, layers_of_text
from content.store.post_repository import fields_of
from proofroom.core.api.answer import Person
from proofroom.core.database.compiled_queries import Row
from proofroom.core.json import JsonObject, format_time
from proofroom.definitions import modules as module_registry
from proofroom.definitions.module import Scope

Wire = dict[str, Any]
_LISTED_VALUES = itemgetter(*LISTED_NAMES)
JsonText = Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": {}})]
"""A JSON object copied as text from its database column."""
JsonTextOrNull = Annotated[
    Any, WithJsonSchema({"type": ["object", "null"], "additionalProperties": {}})
]
Index = Annotated[int, Field(ge=0)]


class LiveModuleAnswer(TypedDict):
    """A module as delivered to visitors. Apply `overrides` on top of `props`."""

    postModuleId: UUID
    moduleInstanceId: UUID
    type: str
    scope: Scope
    orderIndex: Index
    locked: bool
    props: JsonText
    overrides: JsonTextOrNull
    globalSlug: str | None


class PostReferenceAnswer(TypedDict):
    """A post that a link leads to, and its present path."""

    id: UUID
    url: str


class LinkReferenceAnswer(TypedDict):
    """The reference of a link."""

    post: PostReferenceAnswer


class DeliveredModuleAnswer(LiveModuleAnswer):
    """A module of the delivery API, with the posts that its link fields lead to."""

    posts: NotRequired[
        Annotated[
            list[UUID],
            Field(description="With include=modules.posts: the posts that the module lists."),
        ]
    ]

    links: NotRequired[
        Annotated[
            dict[str, LinkReferenceAnswer],
            Field(description="By the path of the link field, like `props.items.0.url`."),
        ]
    ]


class ModuleShapeAnswer(TypedDict):
    """The schema of a module type."""

    type: str
    propsSchema: Annotated[JsonText, Field(description="JSON Schema 2020-12.")]
    defaultProps: JsonText


class ModuleAnswer(TypedDict):
    """A module with its values in each layer; null where a layer changes nothing."""

    postModuleId: UUID
    moduleInstanceId: UUID
    type: str
    scope: Scope
    orderIndex: Index
    locked: bool
    props: Annotated[JsonTextOrNull, Field(description="null for a module that is staged only.")]
    overrides: JsonTextOrNull
    globalSlug: str | None
    reviewProps: JsonTextOrNull
    reviewOverrides: JsonTextOrNull
    reviewRemoved: NotRequired[bool]
    aiReviewProps: JsonTextOrNull
    aiReviewOverrides: JsonTextOrNull
    aiReviewRemoved: NotRequired[bool]
    schema: ModuleShapeAnswer | None


@cache
def module_schema(type_name: str) -> orjson.Fragment:
    """Return `{type, propsSchema, defaultProps}` of a module type, or JSON null if it doesn't exist.

    Cached as encoded JSON.
    """
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
    """Return all modules of a post with their values in each layer. `shared`: props of global instances by id."""
    # The live position, else that of the lowest layer that has the module: later documents overwrite earlier
    # ones.
    indexes: dict[str, int] = {}
    for document in (layers.ai_review.document, layers.review.document, layers.live):
        indexes |= {module.id: index for index, module in enumerate(document.modules)}
    found = [
        _layered(layers, module, indexes, shared, may_see_staged) for module in layers.live.modules
    ]
    if may_see_staged:
        known = set(layers.live.order)
        for view in (layers.review, layers.ai_review):
            for module in view.document.modules:
                if module.id not in known:
                    known.add(module.id)
                    found.append(_layered(layers, module, indexes, shared, may_see_staged))
    return found


def _layered(
    layers: Layers,
    module: ModuleDocument,
    indexes: Mapping[str, int],
    shared: Mapping[str, JsonObject],
    staged: bool,
) -> Wire:
    live = layers.live.module(module.id)
    wire: Wire = {
        "postModuleId": module.id,
        "moduleInstanceId": module.instance_id,
        "type": module.type,
        "scope": module.scope,
        "orderIndex": indexes[module.id],
        "locked": module.locked,
        "props": _props(live, shared),
        "overrides": (live.overrides or None) if live else None,
        "globalSlug": module.global_slug,
        "schema": module_schema(module.type),
    }
    if staged:
        for name, view in (("review", layers.review), ("aiReview", layers.ai_review)):
            props = overrides = None
            if view.document is view.below:  # nothing is staged
                wire[f"{name}Props"] = wire[f"{name}Overrides"] = None
                continue
            below, here = view.below.module(module.id), view.document.module(module.id)
            if here is not None and (below is None or here.props != below.props):
                props = _props(here, shared)
            if here is not None and (below is None or here.overrides != below.overrides):
                overrides = here.overrides or None
            staged_values: Wire = {f"{name}Props": props, f"{name}Overrides": overrides}
            if below is not None and here is None:
                staged_values[f"{name}Removed"] = True
            wire |= staged_values
    return wire


def _props(module: ModuleDocument | None, shared: Mapping[str, JsonObject]) -> object:
    if module is None:
        return None
    return module.props if module.scope == "local" else shared.get(module.instance_id, {})


class LayerStateAnswer(TypedDict):
    """The state of a layer: whether it has changes, and its last editor."""

    exists: bool
    updatedAt: datetime | None
    updatedBy: Person | None
    version: Index


class LayersAnswer(TypedDict):
    """The state of the layers."""

    review: LayerStateAnswer
    aiReview: LayerStateAnswer


class TranslationAnswer(TypedDict):
    """The same post in another language."""

    id: UUID
    locale: str


class DeliveredTranslationAnswer(TranslationAnswer):
    """The same post in another language."""

    url: Annotated[str, Field(description="The path on the site.")]


def listed_post(row: Row) -> Wire:
    """Return a post of a list, with modules and layers if the row of `post_queries.listed_rows` has them."""
    wire: Wire = dict(zip(LISTED_COLUMNS, _LISTED_VALUES(row), strict=True))
    if "live_modules" in row:
        wire["modules"] = orjson.Fragment(row["live_modules"])
    if "staged_layers" in row:
        wire["layers"] = layer_states(layers_of_text(row["staged_layers"]))
    return wire


def layer_states(layers: Mapping[str, Row]) -> LayersAnswer:
    """Return the state of the layers from their rows."""
    states: dict[str, LayerStateAnswer] = {
        layer: {"exists": False, "updatedAt": None, "updatedBy": None, "version": 0}
        for layer in ("review", "ai-review")
    }
    for layer, row in layers.items():
        states[layer] = {
            "exists": True,
            "updatedAt": row["updated_at"],
            "updatedBy": {"id": row["updated_by_id"], "username": row["updated_by__username"]},
            "version": row["version"],
        }
    return {"review": states["review"], "aiReview": states["ai-review"]}


def post_fields(post: Post) -> Wire:
    """Return the fields of a post that every reader may see."""
    wire: Wire = {"id": post.pk, "type": post.type, "locale": post.locale, "status": post.status}
    for name, value in fields_of(post).items():
        if not name.startswith("customFields."):
            wire[name] = value
    wire["customFields"] = post.custom_fields
    wire["url"] = post.path
    wire["version"] = post.version
    wire["createdAt"] = format_time(post.created_at)
    wire["updatedAt"] = format_time(post.updated_at)
    wire["publishedAt"] = format_time(post.published_at)
    return wire


def translations(rows: Iterable[Row]) -> list[TranslationAnswer]:
    """Return the other posts of a translation group."""
    return [{"id": row["id"], "locale": row["locale"]} for row in rows]


def canonical(post: Post, document: PostDocument, others: Iterable[Row]) -> Wire:
    """Return the canonical export: the document with status and translations."""
    wire: Wire = dict(document.to_json())
    published_at = format_time(post.published_at)
    wire["post"] = {**wire["post"], "status": post.status, "publishedAt": published_at}
    wire["translations"] = [{"id": str(row["id"]), "locale": row["locale"]} for row in others]
    return wire
